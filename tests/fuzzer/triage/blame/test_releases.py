from fuzzer.triage.blame import Releases, Verdict


def test_the_release_that_fails_first_after_one_that_passes():
    told = Releases((("0.25.0", Verdict.PASSES), ("0.26.0", Verdict.FAILS), ("0.27.0", Verdict.FAILS)))
    assert (told.introduced, told.fixed) == ("0.26.0", "")


def test_the_release_that_passes_again():
    told = Releases((("0.25.0", Verdict.FAILS), ("0.26.0", Verdict.NOT_RUN), ("0.27.0", Verdict.PASSES)))
    assert (told.introduced, told.fixed) == ("", "0.27.0")


def test_nothing_is_told_of_one_release_or_of_another_failure():
    assert Releases((("0.27.0", Verdict.FAILS),)).introduced == ""
    assert Releases((("0.26.0", Verdict.OTHERWISE), ("0.27.0", Verdict.FAILS))).introduced == ""
