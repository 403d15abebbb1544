"""The public functions that a case may call by name: those that PyTorch has samples for (OpInfo, torch 2.13), less
those that draw random numbers and those that change their operand.

Data, so that files can be checked without PyTorch; `tests/fuzzer/evaluation/test_sample_calls.py` holds it against
PyTorch.
"""

_NAMES = """
torch.Tensor.__getitem__ torch.Tensor.__radd__ torch.Tensor.__rand__ torch.Tensor.__rdiv__ torch.Tensor.__rmatmul__
torch.Tensor.__rmod__ torch.Tensor.__rmul__ torch.Tensor.__ror__ torch.Tensor.__rpow__ torch.Tensor.__rsub__
torch.Tensor.__rxor__ torch.Tensor.bfloat16 torch.Tensor.bool torch.Tensor.byte torch.Tensor.cdouble
torch.Tensor.cfloat torch.Tensor.chalf torch.Tensor.char torch.Tensor.contiguous torch.Tensor.double
torch.Tensor.expand torch.Tensor.expand_as torch.Tensor.float torch.Tensor.half torch.Tensor.int torch.Tensor.item
torch.Tensor.long torch.Tensor.new_full torch.Tensor.new_ones torch.Tensor.new_zeros torch.Tensor.repeat
torch.Tensor.reshape_as torch.Tensor.short torch.Tensor.sum_to_size torch.Tensor.to torch.Tensor.to_sparse
torch.Tensor.unfold torch.Tensor.view torch.Tensor.view_as torch._chunk_cat torch._native_batch_norm_legit
torch._segment_reduce torch._softmax_backward_data torch._unsafe_masked_index torch._unsafe_masked_index_put_accumulate
torch.abs torch.acos torch.acosh torch.add torch.addbmm torch.addcdiv torch.addcmul torch.addmm torch.addmv torch.addr
torch.alias_copy torch.all torch.allclose torch.amax torch.amin torch.aminmax torch.angle torch.any torch.arange
torch.argmax torch.argmin torch.argsort torch.argwhere torch.as_strided torch.as_strided_copy torch.as_strided_scatter
torch.asin torch.asinh torch.atan torch.atan2 torch.atanh torch.atleast_1d torch.atleast_2d torch.atleast_3d
torch.baddbmm torch.bincount torch.bitwise_and torch.bitwise_left_shift torch.bitwise_not torch.bitwise_or
torch.bitwise_right_shift torch.bitwise_xor torch.block_diag torch.bmm torch.broadcast_shapes torch.broadcast_tensors
torch.broadcast_to torch.bucketize torch.cartesian_prod torch.cat torch.cdist torch.ceil torch.cholesky
torch.cholesky_inverse torch.cholesky_solve torch.chunk torch.clamp torch.clamp_max torch.clamp_min torch.clone
torch.column_stack torch.combinations torch.complex torch.conj torch.conj_physical torch.constant_pad_nd torch.copysign
torch.corrcoef torch.cos torch.cosh torch.count_nonzero torch.cov torch.cross torch.cummax torch.cummin torch.cumprod
torch.cumsum torch.cumulative_trapezoid torch.deg2rad torch.diag torch.diag_embed torch.diagflat torch.diagonal
torch.diagonal_copy torch.diagonal_scatter torch.diff torch.digamma torch.dist torch.div torch.dot torch.dsplit
torch.dstack torch.einsum torch.eq torch.equal torch.erf torch.erfc torch.erfinv torch.exp torch.exp2 torch.expand_copy
torch.expm1 torch.eye torch.fft.fft torch.fft.fft2 torch.fft.fftn torch.fft.fftshift torch.fft.hfft torch.fft.hfft2
torch.fft.hfftn torch.fft.ifft torch.fft.ifft2 torch.fft.ifftn torch.fft.ifftshift torch.fft.ihfft torch.fft.ihfft2
torch.fft.ihfftn torch.fft.irfft torch.fft.irfft2 torch.fft.irfftn torch.fft.rfft torch.fft.rfft2 torch.fft.rfftn
torch.fill torch.flatten torch.flip torch.fliplr torch.flipud torch.float_power torch.floor torch.floor_divide
torch.fmax torch.fmin torch.fmod torch.frac torch.frexp torch.full torch.full_like torch.gather torch.gcd torch.ge
torch.geqrf torch.gradient torch.grid_sampler_2d torch.grid_sampler_3d torch.gt torch.hash_tensor torch.heaviside
torch.histc torch.histogram torch.histogramdd torch.hsplit torch.hstack torch.hypot torch.i0 torch.igamma torch.igammac
torch.imag torch.index_add torch.index_copy torch.index_fill torch.index_put torch.index_reduce torch.index_select
torch.inner torch.isclose torch.isfinite torch.isin torch.isinf torch.isnan torch.isneginf torch.isposinf torch.isreal
torch.istft torch.kron torch.kthvalue torch.lcm torch.ldexp torch.le torch.lerp torch.lgamma torch.linalg.cholesky
torch.linalg.cholesky_ex torch.linalg.cond torch.linalg.cross torch.linalg.det torch.linalg.diagonal torch.linalg.eig
torch.linalg.eigh torch.linalg.eigvals torch.linalg.eigvalsh torch.linalg.householder_product torch.linalg.inv
torch.linalg.inv_ex torch.linalg.ldl_factor torch.linalg.ldl_factor_ex torch.linalg.ldl_solve torch.linalg.lstsq
torch.linalg.lu torch.linalg.lu_factor torch.linalg.lu_factor_ex torch.linalg.lu_solve torch.linalg.matrix_norm
torch.linalg.matrix_power torch.linalg.matrix_rank torch.linalg.multi_dot torch.linalg.norm torch.linalg.pinv
torch.linalg.qr torch.linalg.slogdet torch.linalg.solve torch.linalg.solve_ex torch.linalg.solve_triangular
torch.linalg.svd torch.linalg.svdvals torch.linalg.tensorinv torch.linalg.tensorsolve torch.linalg.vander
torch.linalg.vecdot torch.linalg.vector_norm torch.linspace torch.log torch.log10 torch.log1p torch.log2
torch.log_softmax torch.logaddexp torch.logaddexp2 torch.logcumsumexp torch.logdet torch.logical_and torch.logical_not
torch.logical_or torch.logical_xor torch.logit torch.logspace torch.logsumexp torch.lt torch.lu torch.lu_solve
torch.lu_unpack torch.masked.amax torch.masked.amin torch.masked.argmax torch.masked.argmin torch.masked.cumprod
torch.masked.cumsum torch.masked.log_softmax torch.masked.logaddexp torch.masked.logsumexp torch.masked.mean
torch.masked.median torch.masked.norm torch.masked.normalize torch.masked.prod torch.masked.softmax
torch.masked.softmin torch.masked.std torch.masked.sum torch.masked.var torch.masked_fill torch.masked_scatter
torch.masked_select torch.matmul torch.matrix_exp torch.max torch.maximum torch.mean torch.median torch.meshgrid
torch.min torch.minimum torch.mm torch.mode torch.movedim torch.msort torch.mul torch.mv torch.mvlgamma
torch.nan_to_num torch.nanmean torch.nanmedian torch.nanquantile torch.nansum torch.narrow torch.narrow_copy
torch.native_batch_norm torch.native_group_norm torch.native_layer_norm torch.ne torch.neg torch.nextafter
torch.nn.functional.adaptive_avg_pool1d torch.nn.functional.adaptive_avg_pool2d torch.nn.functional.adaptive_avg_pool3d
torch.nn.functional.adaptive_max_pool1d torch.nn.functional.adaptive_max_pool2d torch.nn.functional.adaptive_max_pool3d
torch.nn.functional.avg_pool1d torch.nn.functional.avg_pool2d torch.nn.functional.avg_pool3d
torch.nn.functional.batch_norm torch.nn.functional.bilinear torch.nn.functional.binary_cross_entropy
torch.nn.functional.binary_cross_entropy_with_logits torch.nn.functional.celu torch.nn.functional.channel_shuffle
torch.nn.functional.conv1d torch.nn.functional.conv2d torch.nn.functional.conv3d torch.nn.functional.conv_transpose1d
torch.nn.functional.conv_transpose2d torch.nn.functional.conv_transpose3d torch.nn.functional.cosine_embedding_loss
torch.nn.functional.cosine_similarity torch.nn.functional.cross_entropy torch.nn.functional.ctc_loss
torch.nn.functional.elu torch.nn.functional.embedding torch.nn.functional.embedding_bag
torch.nn.functional.gaussian_nll_loss torch.nn.functional.gelu torch.nn.functional.glu torch.nn.functional.grid_sample
torch.nn.functional.group_norm torch.nn.functional.hardshrink torch.nn.functional.hardsigmoid
torch.nn.functional.hardswish torch.nn.functional.hardtanh torch.nn.functional.hinge_embedding_loss
torch.nn.functional.huber_loss torch.nn.functional.instance_norm torch.nn.functional.interpolate
torch.nn.functional.kl_div torch.nn.functional.l1_loss torch.nn.functional.layer_norm torch.nn.functional.leaky_relu
torch.nn.functional.linear torch.nn.functional.linear_cross_entropy torch.nn.functional.local_response_norm
torch.nn.functional.logsigmoid torch.nn.functional.margin_ranking_loss torch.nn.functional.max_pool1d
torch.nn.functional.max_pool2d torch.nn.functional.max_pool3d torch.nn.functional.max_unpool1d
torch.nn.functional.max_unpool2d torch.nn.functional.max_unpool3d torch.nn.functional.mish torch.nn.functional.mse_loss
torch.nn.functional.multi_margin_loss torch.nn.functional.multilabel_margin_loss
torch.nn.functional.multilabel_soft_margin_loss torch.nn.functional.nll_loss torch.nn.functional.normalize
torch.nn.functional.one_hot torch.nn.functional.pad torch.nn.functional.pairwise_distance torch.nn.functional.pdist
torch.nn.functional.pixel_shuffle torch.nn.functional.pixel_unshuffle torch.nn.functional.poisson_nll_loss
torch.nn.functional.prelu torch.nn.functional.relu torch.nn.functional.relu6 torch.nn.functional.rms_norm
torch.nn.functional.scaled_dot_product_attention torch.nn.functional.selu torch.nn.functional.silu
torch.nn.functional.smooth_l1_loss torch.nn.functional.soft_margin_loss torch.nn.functional.softmin
torch.nn.functional.softplus torch.nn.functional.softshrink torch.nn.functional.softsign torch.nn.functional.tanhshrink
torch.nn.functional.threshold torch.nn.functional.triplet_margin_loss
torch.nn.functional.triplet_margin_with_distance_loss torch.nn.functional.unfold torch.nn.functional.upsample_bilinear
torch.nn.functional.upsample_nearest torch.nonzero torch.nonzero_static torch.norm torch.ones torch.ones_like
torch.ormqr torch.outer torch.permute torch.permute_copy torch.pinverse torch.polar torch.polygamma torch.positive
torch.pow torch.prod torch.put torch.qr torch.quantile torch.rad2deg torch.ravel torch.real torch.reciprocal
torch.remainder torch.renorm torch.repeat_interleave torch.reshape torch.resolve_conj torch.resolve_neg torch.roll
torch.rot90 torch.round torch.rsqrt torch.rsub torch.scalar_tensor torch.scatter torch.scatter_add torch.scatter_reduce
torch.searchsorted torch.select torch.select_scatter torch.sgn torch.sigmoid torch.sign torch.signal.windows.bartlett
torch.signal.windows.blackman torch.signal.windows.cosine torch.signal.windows.exponential
torch.signal.windows.gaussian torch.signal.windows.general_cosine torch.signal.windows.general_hamming
torch.signal.windows.hamming torch.signal.windows.hann torch.signal.windows.kaiser torch.signal.windows.nuttall
torch.signbit torch.sin torch.sinc torch.sinh torch.slice_scatter torch.softmax torch.sort torch.sparse.mm
torch.sparse.sampled_addmm torch.special.airy_ai torch.special.bessel_j0 torch.special.bessel_j1
torch.special.bessel_y0 torch.special.bessel_y1 torch.special.chebyshev_polynomial_t
torch.special.chebyshev_polynomial_u torch.special.chebyshev_polynomial_v torch.special.chebyshev_polynomial_w
torch.special.entr torch.special.erfcx torch.special.hermite_polynomial_h torch.special.hermite_polynomial_he
torch.special.i0e torch.special.i1 torch.special.i1e torch.special.laguerre_polynomial_l
torch.special.legendre_polynomial_p torch.special.log_ndtr torch.special.modified_bessel_i0
torch.special.modified_bessel_i1 torch.special.modified_bessel_k0 torch.special.modified_bessel_k1 torch.special.ndtr
torch.special.ndtri torch.special.polygamma torch.special.scaled_modified_bessel_k0
torch.special.scaled_modified_bessel_k1 torch.special.shifted_chebyshev_polynomial_t
torch.special.shifted_chebyshev_polynomial_u torch.special.shifted_chebyshev_polynomial_v
torch.special.shifted_chebyshev_polynomial_w torch.special.spherical_bessel_j0 torch.special.xlog1py torch.special.zeta
torch.split torch.split_with_sizes torch.split_with_sizes_copy torch.sqrt torch.square torch.squeeze torch.squeeze_copy
torch.stack torch.std torch.std_mean torch.stft torch.sub torch.sum torch.svd torch.t torch.t_copy torch.take
torch.take_along_dim torch.tan torch.tanh torch.tensor_split torch.tensordot torch.tile torch.topk torch.trace
torch.transpose torch.transpose_copy torch.trapezoid torch.trapz torch.triangular_solve torch.tril torch.tril_indices
torch.triu torch.triu_indices torch.true_divide torch.trunc torch.unbind torch.unbind_copy torch.unflatten
torch.unfold_copy torch.unique torch.unique_consecutive torch.unravel_index torch.unsafe_chunk torch.unsafe_split
torch.unsqueeze torch.unsqueeze_copy torch.var torch.var_mean torch.vdot torch.view_as_complex torch.view_as_real
torch.view_copy torch.vsplit torch.vstack torch.where torch.xlogy torch.zeros torch.zeros_like
"""

FUNCTIONS = frozenset(_NAMES.split())
