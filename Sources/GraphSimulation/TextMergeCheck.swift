import GraphModel

/// Records the text edits of one simulated user and checks them against history. Each edit inserts a unique
/// character, a key, which is never typed again:
///
/// - An acknowledged edit without a lost conflict has inserted its keys into the text.
/// - A commit only removes keys that its own user has deleted: no delete takes unseen text, and no splice is applied
///   at a wrong position.
/// - No text has a key twice, unless the outcome of its transaction is unknown. Such an edit becomes part of the next
///   transaction, because a duplicate is better than a loss.
///
/// Transactions that replace complete texts are exempt from the second rule: a `set`, an overwrite or a restore. So
/// are undo and redo, which revert typed text.
struct TextMergeCheck {
  /// The number of keys per client. The two private-use planes have space for 64 clients; a client without keys left
  /// inserts none.
  private static let keysPerClient: UInt32 = 0x7FF

  private let client: Int
  private var keys: UInt32 = 0
  private var deleted = Set<Unicode.Scalar>()
  private var replacing = Set<TransactionID>()
  private var sent = [TransactionID: [(object: ObjectID, keys: [Unicode.Scalar])]]()
  private var possibleDuplicates = Set<Unicode.Scalar>()
  /// The acknowledged transactions, with the objects on which they lost a conflict.
  private var acknowledged = [(id: TransactionID, lost: Set<ObjectID>)]()

  init(client: Int) { self.client = client }

  static func isKey(_ scalar: Unicode.Scalar) -> Bool { scalar.properties.generalCategory == .privateUse }

  private mutating func key() -> Unicode.Scalar? {
    guard keys < Self.keysPerClient, client < 64 else { return nil }
    keys += 1
    let plane: UInt32 = client < 32 ? 0xF_0000 : 0x10_0000
    return Unicode.Scalar(plane + UInt32(client % 32) * (Self.keysPerClient + 1) + keys - 1)
  }

  // MARK: - Editing

  /// Inserts, deletes or replaces at a random position; the text around the keys has characters of one to four bytes.
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
      let others = Array((random.element(of: ["", "a", " b", "é", "漢 ", "e\u{301}", "👩\u{200D}👧"])).unicodeScalars)
      scalars.insert(contentsOf: [key()].compactMap { $0 } + others, at: start)
    }
    return String(String.UnicodeScalarView(scalars))
  }

  // MARK: - Transactions and answers

  mutating func record(_ transaction: Transaction, text: PropertyNumber) {
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

  /// Exempts a restore, which brings back the texts of that time.
  mutating func recordRestore(_ id: TransactionID) { replacing.insert(id) }

  mutating func record(_ id: TransactionID, _ committed: CommitResult) {
    acknowledged.append((id, Set(committed.conflicts.lazy.filter { !$0.mineWon }.map(\.id))))
  }

  /// Records that the outcome of a transaction was pruned.
  mutating func recordPruned(of id: TransactionID) {
    for (_, keys) in sent[id, default: []] { possibleDuplicates.formUnion(keys) }
  }

  /// Exempts a transaction that is based on a state that a restore removed.
  ///
  /// Its positions are meaningless, and a complete text may duplicate what others type again.
  mutating func exempt(_ transaction: Transaction, text: PropertyNumber) {
    replacing.insert(transaction.id)
    for edit in transaction.changes.flatMap(\.edits) where edit.property == text {
      if case .set(.string(let whole)) = edit.action {
        possibleDuplicates.formUnion(whole.unicodeScalars.filter(Self.isKey))
      }
    }
  }

  /// Removes acknowledged transactions that a restore has removed.
  mutating func revert(_ ids: Set<TransactionID>) { acknowledged.removeAll { ids.contains($0.id) } }

  // MARK: - The invariants

  /// Describes the first violation. The index in `clients` is the first half of their replicas' ids, minus one.
  static func failure(
    in records: [CommitRecord], of clients: [TextMergeCheck], text: Property, in entity: Entity
  ) -> String? {
    /// The keys in the texts of a transaction's objects after its commit; nil for a deleted object.
    var left = [TransactionID: [ObjectID: Set<Unicode.Scalar>?]]()
    var mayBeTwice = clients.reduce(into: Set()) { $0.formUnion($1.possibleDuplicates) }
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
          // An undo of the deletion may bring the key back once more.
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
        for (object, keys) in client.sent[id, default: []] where !keys.isEmpty && !lost.contains(object) {
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
