import Foundation

extension Bench {
  private static let touched = 10_000
  private static let growth = [1_000, 10_000, 100_000]

  /// Measures one transaction with many objects, in the store alone: beside raw SQLite, and with growing size.
  func measureTransactions() throws {
    for kind in [OneTransaction.Kind.insert, .update, .delete] { try measureTransaction(kind, "\(kind.rawValue)s") }
    for kind in [OneTransaction.Kind.insert, .update, .delete] { try measureGrowth(kind, "\(kind.rawValue)s") }
  }

  /// Measures one delete that cascades through a complete ring.
  func measureCascades() throws {
    try measureTransaction(.cascade, "deletes by a cascade in a ring")
    try measureGrowth(.cascade, "deletes by a cascade in a ring")
  }

  private func measureTransaction(_ kind: OneTransaction.Kind, _ name: String) throws {
    let base = place("base")
    try OneTransaction.prepare(kind, count: Self.touched, data: base)
    var (ours, raw, blind) = ([Double](), [Double](), [Double]())
    for _ in 0..<Self.rounds {
      let (mine, theirs) = (try copy(base), try copy(base))
      ours.append(try OneTransaction.measure(kind, count: Self.touched, data: mine).seconds)
      let limit = try RawTransaction(kind, before: theirs + "/graph.sqlite", after: mine + "/graph.sqlite")
      raw.append(try timed { try limit.run() })
      if kind != .insert {
        let others = try copy(base)
        let writes = try RawTransaction(kind, before: others + "/graph.sqlite", after: mine + "/graph.sqlite")
        blind.append(try timed { try writes.run(reads: false) })
        remove(others)
      }
      remove(mine)
      remove(theirs)
    }
    Figure(
      name: "\(Figure.text(Double(Self.touched))) \(name)", unit: "ms", ours: median(ours) * 1e3,
      limit: median(raw) * 1e3, aim: .atMost(2)
    ).report()
    if !blind.isEmpty {
      Figure(
        name: "– beside the writes alone, the old values being known", unit: "ms", ours: median(ours) * 1e3,
        limit: median(blind) * 1e3
      ).report()
    }
    remove(base)
  }

  private func measureGrowth(_ kind: OneTransaction.Kind, _ name: String) throws {
    var (times, sizes) = ([Double](), [Double]())
    for count in Self.growth {
      let base = place("base")
      try OneTransaction.prepare(kind, count: count, data: base)
      var (seconds, kibibytes) = ([Double](), [Double]())
      for _ in 0..<Self.rounds {
        let data = try copy(base)
        let cost = try OneTransaction.measure(kind, count: count, data: data)
        seconds.append(cost.seconds)
        kibibytes.append(cost.kibibytes)
        remove(data)
      }
      times.append(median(seconds) * 1e6 / Double(count))
      sizes.append(median(kibibytes) / Double(count))
      remove(base)
    }
    let counts = Self.growth.map { Figure.text(Double($0)) }
    say("\n| \(name) in one transaction | \(counts.joined(separator: " | ")) | last / first |")
    say("|" + String(repeating: " --- |", count: counts.count + 2))
    for (what, values) in [("µs for each", times), ("KiB of memory for each, at most", sizes)] {
      let factor = String(format: "%.2f", (values.last ?? .nan) / (values.first ?? .nan))
      say("| \(what) | \(values.map(Figure.text).joined(separator: " | ")) | \(factor) |")
    }
  }

  /// Copies a closed store.
  func copy(_ data: String) throws -> String {
    let copy = place("copy")
    try FileManager.default.copyItem(atPath: data, toPath: copy)
    // Otherwise the first measured commit would wait for the copy to reach the disk.
    sync()
    return copy
  }
}
