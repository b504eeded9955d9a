import Foundation

/// A row of the report: our figure, the limit, the required ratio, the baseline's figure, and those of the peers. The
/// rows are Markdown, as in docs/performance.md.
struct Figure {
  enum Aim {
    case atLeast(Double)
    case atMost(Double)
    case none

    /// Returns the aim and whether a ratio misses it; nil without an aim.
    func verdict(_ ratio: Double) -> String? {
      switch self {
      case .atLeast(let least): "≥ \(Figure.text(least))" + (ratio < least ? ", missed" : "")
      case .atMost(let most): "≤ \(Figure.text(most))" + (ratio > most ? ", missed" : "")
      case .none: nil
      }
    }
  }

  let name: String
  let unit: String
  let ours: Double
  /// The figure of the other build of the daemon; nil without one, and in rows that only explain another row.
  var baseline: Double?
  var limit: Double?
  var aim = Aim.none
  /// The peers' figures; empty in sections without peers, and in rows that only explain another row.
  var peers = [Peer: Double]()
  /// The required ratio of our figure to a peer's.
  var peerAims = [Peer: Aim]()

  /// Returns the head of a table.
  static func header(withBaseline: Bool, withPeers: Bool) -> String {
    var names = ["what", "unit", "ours", "limit", "ratio", "aim"]
    if withBaseline { names += ["baseline", "ours / baseline"] }
    if withPeers { names += Peer.allCases.flatMap { [$0.rawValue, "ours / \($0.rawValue)"] } }
    return row(names) + "\n" + row(names.map { _ in "---" })
  }

  private static func row(_ cells: [String]) -> String { "| \(cells.joined(separator: " | ")) |" }

  func report() {
    let ratio = limit.map { ours / $0 }
    var cells = [
      name, unit, Self.text(ours), limit.map(Self.text) ?? "–", ratio.map { String(format: "%.2f", $0) } ?? "–",
      ratio.flatMap { aim.verdict($0) } ?? "–",
    ]
    if let baseline { cells += [Self.text(baseline), baselineVerdict(baseline)] }
    if !peers.isEmpty { cells += Peer.allCases.flatMap(peerCells) }
    say(Self.row(cells))
  }

  /// A difference from the baseline above this is not noise.
  private static let noise = 0.05

  private func baselineVerdict(_ baseline: Double) -> String {
    let ratio = ours / baseline
    // Of rates the larger one is better, of all other figures the smaller one.
    let isSlower = unit.hasSuffix("/s") ? ratio < 1 - Self.noise : ratio > 1 + Self.noise
    return String(format: "%.2f", ratio) + (isSlower ? ", worse" : "")
  }

  private func peerCells(_ peer: Peer) -> [String] {
    guard let figure = peers[peer] else { return ["–", "–"] }
    let ratio = ours / figure
    let verdict = peerAims[peer]?.verdict(ratio).map { " (\($0))" } ?? ""
    return [Self.text(figure), String(format: "%.2f", ratio) + verdict]
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
