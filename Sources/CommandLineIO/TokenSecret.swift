// Tests: TokenSecretTests.swift, SecretTests.swift
#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

/// Keeps the secrets of tokens out of messages and core dumps.
///
/// A user may paste a token where a name or a file is expected, and error messages quote their input. Standard error is
/// often stored: in the system's journal, in the logs of continuous integration, in bug reports.
public enum TokenSecret {
  /// The prefix of every token.
  private static let prefix = Array("stk_".utf8)
  /// The number of characters after the prefix that are shown, to identify the token.
  private static let shownLength = 4
  /// The minimum number of characters after the prefix that count as a secret. A truncated token is a secret, too.
  private static let shortestLength = 16

  /// The text with `…` in place of the secret part of each token.
  public static func redacted(_ text: String) -> String {
    guard text.utf8.count > prefix.count + shortestLength, text.contains("stk_") else { return text }
    var result = [UInt8]()
    var rest = Array(text.utf8)[...]
    while let first = rest.first {
      guard rest.starts(with: prefix) else {
        result.append(first)
        rest = rest.dropFirst()
        continue
      }
      let letters = rest.dropFirst(prefix.count).prefix { isLetter($0) }
      result += prefix
      rest = rest.dropFirst(prefix.count)
      guard letters.count >= shortestLength else { continue }
      result += letters.prefix(shownLength) + Array("…".utf8)
      rest = rest.dropFirst(letters.count)
    }
    return String(decoding: result, as: UTF8.self)
  }

  /// Whether a token can contain this character. Capitals count, because a person may have changed the text.
  private static func isLetter(_ character: UInt8) -> Bool {
    switch character {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
      UInt8(ascii: "0")...UInt8(ascii: "9"):
      true
    default: false
    }
  }

  /// Prevents core dumps of this process, because its memory contains tokens and the data of the store.
  ///
  /// Programs that collect dumps for the system, such as systemd-coredump, respect the limit as well.
  public static func preventCoreDumps() {
    var limit = rlimit(rlim_cur: 0, rlim_max: 0)
    // Lowering a limit is always permitted.
    setrlimit(__rlimit_resource_t(RLIMIT_CORE.rawValue), &limit)
  }
}
