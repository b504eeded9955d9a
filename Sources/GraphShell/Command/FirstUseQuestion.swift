// Tests: FirstUseQuestionTests.swift
import CommandLineIO
import GraphClient

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

/// Asks the user about a server's key at the first connection to it.
enum FirstUseQuestion {
  /// The text of the question.
  static func text(_ failure: SecurityFailure) -> String {
    "\(failure.message).\nConnect, and trust this key from now on? (yes/no) "
  }

  /// Whether an answer accepts the key. Only the whole word does: a key must not be accepted by a slip.
  static func isAcceptance(_ answer: String) -> Bool {
    answer.split(whereSeparator: \.isWhitespace).map { $0.lowercased() } == ["yes"]
  }

  /// Asks on the terminal.
  /// - Returns: false if standard input or standard error is no terminal, and for any answer but yes.
  static func accepts(_ failure: SecurityFailure) -> Bool {
    guard isatty(0) == 1, isatty(2) == 1 else { return false }
    StandardError.write(text(failure), terminator: "")
    var answer = [UInt8](repeating: 0, count: 64)
    let count = read(0, &answer, answer.count)
    return count > 0 && isAcceptance(String(decoding: answer[..<count], as: UTF8.self))
  }
}
