extension UInt64 {
  /// A hash of the number, the same in every process: the last step of SplitMix64.
  @inlinable package var mixed: UInt64 {
    var number = self
    number = (number ^ (number >> 30)) &* 0xBF58_476D_1CE4_E5B9
    number = (number ^ (number >> 27)) &* 0x94D0_49BB_1331_11EB
    return number ^ (number >> 31)
  }
}
