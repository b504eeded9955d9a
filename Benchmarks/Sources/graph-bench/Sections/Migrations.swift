import Foundation
import GraphModel
import GraphStore
import GraphStoreTools

extension Bench {
  private static let migratedCounts = [100_000, 1_000_000]

  /// A next version of `Staff`, with the equivalent SQL if objects are written.
  private struct NextVersion {
    let name: String
    /// The text in the model that is replaced, and its replacement.
    let old: String
    let new: String
    var mapping = ""
    /// The same column updated by SQLite; empty if no objects are written.
    var update = [String]()

    var source: String {
      Staff.source.replacingOccurrences(of: "\"version\": 1,", with: "\"version\": 2, \(mapping)")
        .replacingOccurrences(of: old, with: new)
    }
  }

  private static let city = #"{"name": "city", "type": "string", "default": "Hamburg"}"#
  private static let nextVersions = [
    NextVersion(
      name: "a property is added", old: city, new: city + #", {"name": "badge", "type": "string", "optional": true}"#),
    NextVersion(
      name: "a property is renamed", old: city,
      new: #"{"name": "town", "renamed": "city", "type": "string", "default": "Hamburg"}"#),
    // The half makes SQLite store doubles as well.
    NextVersion(
      name: "integers become doubles", old: #"{"name": "age", "type": "integer""#,
      new: #"{"name": "age", "type": "double""#, update: ["UPDATE Person SET age = age + 0.5"]),
    NextVersion(
      name: "a new property is computed", old: city,
      new: city + #", {"name": "points", "type": "double", "optional": true}"#,
      mapping: #""mapping": {"Person.points": "score * 10"},"#,
      update: ["ALTER TABLE Person ADD COLUMN points REAL", "UPDATE Person SET points = score * 10"]),
  ]

  /// Measures migrations of a store to the next version of its model, without the copy made before. A version that
  /// writes no objects is compared with a tenth of the objects, one that writes all of them with SQLite's UPDATE.
  func measureMigration() throws {
    var times = [[Double]](), raw = [[Double]](), backups = [Double]()
    for count in Self.migratedCounts {
      let base = place("base")
      let staff = try StaffStore(base)
      try staff.fill(people: count, teams: count / 20)
      try staff.close()
      backups.append(median(try (0..<Self.rounds).map { _ in try backupTime(base) }))
      times.append(try Self.nextVersions.map { version in try migrationTime(version, base, count) })
      raw.append(
        try Self.nextVersions.map { version in version.update.isEmpty ? .nan : try updateTime(version.update, base) })
      remove(base)
    }
    guard let (few, many) = times.first.flatMap({ few in times.last.map { (few, $0) } }) else { return }
    for (index, version) in Self.nextVersions.enumerated() {
      if version.update.isEmpty {
        // Milliseconds vary by half between runs; a linear cost would be ten times as high.
        Figure(
          name: "\(version.name), 1,000,000 objects beside 100,000", unit: "ms", ours: many[index] * 1e3,
          limit: few[index] * 1e3, aim: .atMost(2)
        ).report()
      } else {
        Figure(
          name: "\(version.name), 1,000,000 objects", unit: "ms", ours: many[index] * 1e3,
          limit: (raw.last?[index] ?? .nan) * 1e3, aim: .atMost(1.5)
        ).report()
        Figure(
          name: "– 100,000 objects", unit: "ms", ours: few[index] * 1e3, limit: (raw.first?[index] ?? .nan) * 1e3,
          aim: .atMost(1.5)
        ).report()
      }
    }
    for (count, seconds) in zip(Self.migratedCounts, backups) {
      Figure(
        name: "– the verified backup of \(Figure.text(Double(count))) objects", unit: "ms", ours: seconds * 1e3
      ).report()
    }
  }

  private func migrationTime(_ version: NextVersion, _ base: String, _ count: Int) throws -> Double {
    let models = [try Model(parsing: Staff.source.utf8), try Model(parsing: version.source.utf8)]
    var options = StoreMigration.Options()
    options.makesBackup = false
    options.isChecked = true
    return median(
      try (0..<Self.rounds).map { _ in
        let data = try copy(base)
        defer { remove(data) }
        let clock = Timestamp(Date().timeIntervalSince1970 * 1e6)
        let migration = StoreMigration(directory: data, models: models, now: clock, options: options)
        var report: MigrationReport?
        let seconds = try timed { report = try migration.run() }
        let rewritten = version.update.isEmpty ? 0 : count
        guard let report, report.rewritten == rewritten, !report.steps.isEmpty, report.to == 2 else {
          throw BenchmarkError(description: "\(version.name): \(report?.rewritten ?? -1) rows were rewritten")
        }
        return seconds
      })
  }

  /// Returns the time of one transaction that is in the file when it returns, like a migration.
  private func updateTime(_ statements: [String], _ base: String) throws -> Double {
    median(
      try (0..<Self.rounds).map { _ in
        let data = try copy(base)
        defer { remove(data) }
        let database = try RawDatabase(data + "/graph.sqlite")
        return try timed {
          try database.execute("BEGIN IMMEDIATE")
          for sql in statements { try database.execute(sql) }
          try database.execute("COMMIT")
          try database.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        }
      })
  }

  private func backupTime(_ data: String) throws -> Double {
    let file = place("backup")
    defer { remove(file) }
    let model = try Model(parsing: Staff.source.utf8)
    return try timed { _ = try StoreBackup.run(directory: data, model: model, file: file) }
  }
}
