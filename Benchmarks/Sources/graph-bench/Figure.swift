import Foundation

/// A row of the report: our figure, the limit, the required ratio, and Redis's figure. The rows are Markdown, as in
/// docs/performance.md.
struct Figure {
  enum Aim {
    case atLeast(Double)
    case atMost(Double)
    case none
  }

  let name: String
  let unit: String
  let ours: Double
  var limit: Double?
  var aim = Aim.none
  var redis: Double?

  static let header = """
    | what | unit | ours | limit | ratio | aim | Redis | ours / Redis |
    | --- | --- | --- | --- | --- | --- | --- | --- |
    """

  func report() {
    let ratio = limit.map { ours / $0 }
    let verdict: String
    switch (aim, ratio) {
    case (.atLeast(let least), let ratio?): verdict = "≥ \(Self.text(least))" + (ratio < least ? ", missed" : "")
    case (.atMost(let most), let ratio?): verdict = "≤ \(Self.text(most))" + (ratio > most ? ", missed" : "")
    default: verdict = "–"
    }
    let cells = [
      name, unit, Self.text(ours), limit.map(Self.text) ?? "–", ratio.map { String(format: "%.2f", $0) } ?? "–",
      verdict, redis.map(Self.text) ?? "–", redis.map { String(format: "%.2f", ours / $0) } ?? "–",
    ]
    say("| \(cells.joined(separator: " | ")) |")
  }

  /// Formats a number with three significant digits and separated thousands.
  static func text(_ value: Double) -> String {
    guard value.isFinite else { return "–" }
    if value.rounded() == value, abs(value) < 1_000 { return String(Int(value)) }
    if abs(value) < 10 { return String(format: "%.2f", value) }
    if abs(value) < 100 { return String(format: "%.1f", value) }
    var digits = Array(String(Int(value.rounded())))
    var place = digits.count - 3
    while place > (value < 0 ? 1 : 0) {
      digits.insert(",", at: place)
      place -= 3
    }
    return String(digits)
  }
}

/// Prints a line and flushes it, so that it is visible at once through a pipe.
func say(_ line: String) {
  print(line)
  fflush(nil)
}
