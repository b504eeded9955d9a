import GraphModel

extension CoreDataFile {
  /// A checksum of the version of the app's model that made the store: its entities, its columns, and the hashes of the
  /// entities that Core Data keeps. Two versions have different ones; rows do not change it.
  func versionChecksum() throws -> UInt64 {
    var parts = entities.map { "\($0.number) \($0.name) \($0.parent)" }
    parts += tables.map { "\($0.name) \($0.columns.joined(separator: " "))" }
    parts += joins.map { "\($0.name) \($0.columns.joined(separator: " "))" }
    var sum = Checksum.of(Array(parts.joined(separator: "\n").utf8))
    for hash in try entityHashes() { sum = Checksum.of(hash, seed: sum) }
    return sum
  }

  /// Core Data's hashes of the entities, in the order of their names; none if the store does not have them.
  private func entityHashes() throws -> [[UInt8]] {
    do {
      let rows = try database.statement("SELECT Z_PLIST FROM Z_METADATA ORDER BY Z_VERSION LIMIT 1")
      guard try rows.step(), case .blob(let bytes) = rows.value(0), let list = try? PropertyList(parsing: bytes),
        case .dictionary(let hashes)? = list["NSStoreModelVersionHashes"]
      else { return [] }
      return hashes.sorted { $0.key < $1.key }.compactMap { hash in
        if case .data(let bytes) = hash.value { bytes } else { nil }
      }
    } catch is StoreDatabase.UnknownSQL {
      return []
    }
  }
}
