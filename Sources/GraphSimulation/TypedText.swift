import GraphModel

/// What one simulated user types. Every key is a character of its own, which nobody ever types again, so that history
/// tells of each what became of it:
///
/// - an acknowledged edit that lost no conflict has brought its characters into the text;
/// - a commit removes none that its own client's user has not deleted, so no delete takes what it had not seen, and
///   nothing goes by a splice at a wrong place;
/// - no text has a character twice, unless nobody can say any more whether its transaction was committed: the edit goes into
///   the next one then, for twice is better than not at all.
///
/// A transaction that replaces texts whole is exempt from the second: one that says `set`, an overwrite, or a restore. So
/// are undo and redo, which take back what was typed.
struct TypedText {
  /// The two private planes have room for 64 clients with so many keys each; then a user types no more of them.
  private static let keysEach: UInt32 = 0x7FF

  private let client: Int
  private var keys: UInt32 = 0
  private var deleted = Set<Unicode.Scalar>()
  private var replacing = Set<TransactionID>()
  private var sent = [TransactionID: [(object: ObjectID, keys: [Unicode.Scalar])]]()
  private var mayBeTwice = Set<Unicode.Scalar>()
  /// Acknowledged transactions, with the objects on which they lost something.
  private var acknowledged = [(id: TransactionID, lost: Set<ObjectID>)]()

  init(client: Int) { self.client = client }

  static func isKey(_ scalar: Unicode.Scalar) -> Bool { scalar.properties.generalCategory == .privateUse }

  private mutating func key() -> Unicode.Scalar? {
    guard keys < Self.keysEach, client < 64 else { return nil }
    keys += 1
    let plane: UInt32 = client < 32 ? 0xF_0000 : 0x10_0000
    return Unicode.Scalar(plane + UInt32(client % 32) * (Self.keysEach + 1) + keys - 1)
  }

  // MARK: - The user

  /// Types, deletes or replaces at a place of the text; around the keys stand characters of one to four bytes.
  mutating func edit(_ text: String, _ random: inout SeededRandom) -> String {
    var scalars = Array(text.unicodeScalars)
    let start = random.below(scalars.count + 1)
    let isLong = scalars.count > 40
    if random.chance(isLong ? 80 : 35) {
      let end = min(scalars.count, start + 1 + random.below(isLong ? 12 : 4))
      deleted.formUnion(scalars[start..<end])
      scalars.removeSubrange(start..<end)
    }
    if random.chance(isLong ? 30 : 75) {
      let others = Array((random.pick(["", "a", " b", "é", "漢 ", "e\u{301}", "👩\u{200D}👧"]) ?? "").unicodeScalars)
      scalars.insert(contentsOf: [key()].compactMap { $0 } + others, at: start)
    }
    return String(String.UnicodeScalarView(scalars))
  }

  // MARK: - What is said and answered

  mutating func note(_ transaction: Transaction, text: PropertyNumber) {
    var typed = [(object: ObjectID, keys: [Unicode.Scalar])]()
    if transaction.policy == .overwrite { replacing.insert(transaction.id) }
    for change in transaction.changes where change.kind == .update {
      for edit in change.edits where edit.property == text {
        if case .splice(let splices) = edit.action {
          typed.append((change.id, splices.flatMap { $0.insertion.unicodeScalars.filter(Self.isKey) }))
        } else {
          replacing.insert(transaction.id)
        }
      }
    }
    if !typed.isEmpty { sent[transaction.id] = typed }
  }

  /// What is restored has the text that it had then.
  mutating func keepRestore(_ id: TransactionID) { replacing.insert(id) }

  mutating func note(_ id: TransactionID, _ committed: Committed) {
    acknowledged.append((id, Set(committed.conflicts.lazy.filter { !$0.mineWon }.map(\.id))))
  }

  /// What became of a transaction is not kept any more.
  mutating func losePast(of id: TransactionID) {
    for (_, keys) in sent[id] ?? [] { mayBeTwice.formUnion(keys) }
  }

  /// What it says of texts is said of a time that was taken back: its places mean nothing, and a text that it says whole
  /// may have what others type once more.
  mutating func exempt(_ transaction: Transaction, text: PropertyNumber) {
    replacing.insert(transaction.id)
    for edit in transaction.changes.flatMap(\.edits) where edit.property == text {
      if case .set(.string(let whole)) = edit.action { mayBeTwice.formUnion(whole.unicodeScalars.filter(Self.isKey)) }
    }
  }

  /// Acknowledged transactions that a restore has taken back.
  mutating func takeBack(_ ids: Set<TransactionID>) { acknowledged.removeAll { ids.contains($0.id) } }

  // MARK: - The promises

  /// The first promise that a commit broke; `clients` by the first half of their replicas' ids, less one.
  static func failure(
    in records: [CommitRecord], of clients: [TypedText], text: Property, in entity: Entity
  ) -> String? {
    /// What the texts of a transaction's objects had afterwards; nil for an object that it deleted.
    var left = [TransactionID: [ObjectID: Set<Unicode.Scalar>?]]()
    var mayBeTwice = clients.reduce(into: Set()) { $0.formUnion($1.mayBeTwice) }
    for record in records {
      let number = Int(record.transaction.replica.high) - 1
      guard clients.indices.contains(number) else { continue }
      for change in record.changes where entity.family.contains(change.id.entity) {
        guard let after = change.after?[text].stringValue else {
          left[record.transaction, default: [:]][change.id] = .some(nil)
          continue
        }
        let keys = after.unicodeScalars.filter(isKey)
        let there = Set(keys)
        let single = keys.filter { !mayBeTwice.contains($0) }
        guard Set(single).count == single.count else {
          return "revision \(record.revision) has a key twice in \(change.id)"
        }
        left[record.transaction, default: [:]][change.id] = there
        guard let before = change.before?[text].stringValue, record.undoes == nil, record.redoes == nil else {
          continue
        }
        if clients[number].replacing.contains(record.transaction) {
          // Whoever undoes that it was deleted brings it back once more.
          mayBeTwice.formUnion(there.subtracting(before.unicodeScalars))
          continue
        }
        for key in before.unicodeScalars where isKey(key) && !there.contains(key) {
          guard clients[number].deleted.contains(key) else {
            return "revision \(record.revision) of client \(number) took a key from \(change.id) that it never deleted"
          }
        }
      }
    }
    for client in clients {
      for (id, lost) in client.acknowledged {
        for (object, keys) in client.sent[id] ?? [] where !keys.isEmpty && !lost.contains(object) {
          if case .some(.none) = left[id]?[object] { continue }
          guard left[id]?[object]??.isSuperset(of: keys) == true else {
            return "transaction \(id.sequence) of client \(client.client) was acknowledged without all that was typed"
          }
        }
      }
    }
    return nil
  }
}
