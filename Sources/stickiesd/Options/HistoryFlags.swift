import ArgumentParser
import Configuration
import GraphModel

/// The value of `--keep-history`: an age or a number of commits.
enum HistoryRetention: Equatable {
  case age(DurationOption)
  case commits(Int)

  static let expected = "a number of commits (at least 1), or an age such as 90d, 12h, 30m or 10s"

  init?(_ text: String) {
    if let count = Int(text) {
      guard count > 0 else { return nil }
      self = .commits(count)
    } else if let age = DurationOption(text) {
      self = .age(age)
    } else {
      return nil
    }
  }
}

/// The options for pruning while the daemon serves; by default nothing is pruned.
struct HistoryFlags: ParsableArguments {
  @Option(
    help: ArgumentHelp(
      "Prune history while serving: keep this many of the newest commits, or the commits of this age, such as 90d; "
        + "default: keep all.", valueName: "age|count"))
  var keepHistory: String?

  @Option(
    help: ArgumentHelp(
      "Never prune younger commits, which disconnected clients may still need; default: 30d.", valueName: "age"))
  var minimumRetention: String?

  @Option(help: ArgumentHelp("The time between two prunings, at least 1s; default: 1h.", valueName: "age"))
  var pruneEvery: String?

  /// The policy; nil when nothing is pruned.
  func policy(_ reader: ConfigReader) throws -> HistoryPolicy? {
    let minimumRetention = try Self.value(minimumRetention, "minimumRetention", reader, DurationOption.expected) {
      DurationOption($0)
    }
    guard
      let kept = try Self.value(keepHistory, "keepHistory", reader, HistoryRetention.expected, HistoryRetention.init)
    else {
      return nil
    }
    var policy = HistoryPolicy()
    switch kept {
    case .age(let age): policy.age = age.microseconds
    case .commits(let count): policy.commits = count
    }
    if let minimumRetention { policy.minimumRetention = minimumRetention.microseconds }
    return policy
  }

  func period(_ reader: ConfigReader) throws -> DurationOption {
    try Self.value(pruneEvery, "pruneEvery", reader, DurationOption.expectedPeriod) { text in
      DurationOption(text).flatMap { $0.isPeriod ? $0 : nil }
    } ?? .hour
  }

  /// The value of the flag, or else of the environment variable or the file. The file was validated when it was read.
  private static func value<Value>(
    _ flag: String?, _ key: String, _ reader: ConfigReader, _ expected: String, _ parse: (String) -> Value?
  ) throws -> Value? {
    let words = key.reduce(into: "") { $0 += $1.isUppercase ? "-\($1.lowercased())" : "\($1)" }
    if let flag {
      guard let value = parse(flag) else {
        throw OptionsError(description: "--\(words): \(flag); it must be \(expected)")
      }
      return value
    }
    guard let text = reader.string(forKey: ConfigKey(key)) else { return nil }
    guard let value = parse(text) else {
      let variable = "STICKIESD_" + words.uppercased().replacing("-", with: "_")
      throw OptionsError(description: "\(variable): \"\(text)\"; it must be \(expected)")
    }
    return value
  }
}

extension DurationOption {
  static let expected = "an age such as 90d, 12h, 30m or 10s"
  static let expectedPeriod = "a time from 1s to 36500d, such as 1h"

  /// The default interval of pruning.
  static let hour = DurationOption(microseconds: 3_600_000_000)

  /// Whether the span is valid as an interval.
  var isPeriod: Bool { microseconds >= 1_000_000 && microseconds <= 36_500 * 86_400_000_000 }
}
