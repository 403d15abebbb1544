"""`fuzz minimize`: a finding, a case or a model is reduced."""
