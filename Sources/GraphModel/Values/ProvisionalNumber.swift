/// The numbers of a sequence that a replica assigns until the server does: `+1`, `+2`, and so on.
public enum ProvisionalNumber {
  /// The number that `+0` would have. All are greater than those of a server, and a double represents them exactly.
  public static let base: Int64 = 1 << 52

  /// The number as a person reads it, `+1`; nil for a number that the server has assigned.
  public static func text(_ number: Int64) -> String? { number > base ? "+\(number - base)" : nil }

  /// The number for `+1`; nil for another text.
  public static func number(_ text: some StringProtocol) -> Int64? {
    guard text.first == "+", text.utf8.count > 1, text.utf8.dropFirst().allSatisfy({ (0x30...0x39).contains($0) }),
      let number = Int64(text.dropFirst()), number > 0, number < base
    else { return nil }
    return base + number
  }
}
