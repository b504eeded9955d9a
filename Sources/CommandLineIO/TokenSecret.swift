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
/// A user may paste a token where a name or a file is expected, and messages quote what they refuse. Standard error is
/// often kept: by the journal of the system, by a continuous integration, in a report of a bug.
public enum TokenSecret {
  /// The beginning of every token.
  private static let prefix = Array("stk_".utf8)
  /// The characters behind the beginning that stay, to recognize the token.
  private static let shownLength = 4
  /// The least number of characters behind the beginning of what counts as a secret. A token that was cut is one, too.
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

  /// Whether a token has this character. Capitals count, because a text may have been changed by hand.
  private static func isLetter(_ character: UInt8) -> Bool {
    switch character {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
      UInt8(ascii: "0")...UInt8(ascii: "9"):
      true
    default: false
    }
  }

  /// Makes the system write no core dump of this process, whose memory has tokens, and all that a store contains.
  ///
  /// Programs that collect dumps for the system, such as systemd-coredump, respect the limit as well.
  public static func preventCoreDumps() {
    var limit = rlimit(rlim_cur: 0, rlim_max: 0)
    // It can always be lowered.
    setrlimit(__rlimit_resource_t(RLIMIT_CORE.rawValue), &limit)
  }
}
