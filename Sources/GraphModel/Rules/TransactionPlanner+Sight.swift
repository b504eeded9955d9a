/// What a transaction's author could have known of.
extension TransactionPlanner {
  /// What happened to the object after `revision`, oldest first, as far as the author's version of the model shows it.
  func past(of id: ObjectID, after revision: Revision) throws -> [PastChange] {
    let past = try reader.history(of: id, after: revision)
    return transaction.unseen.isEmpty ? past : past.compactMap { $0.seen(without: transaction.unseen) }
  }
}

extension PastChange {
  /// The change without what it did to some properties; nil for an update that did nothing else.
  func seen(without unseen: Set<PropertyNumber>) -> PastChange? {
    var change = self
    change.edits.removeAll { unseen.contains($0.property) }
    change.reversals.removeAll { unseen.contains($0.property) }
    return change.kind == .updated && change.edits.isEmpty && !edits.isEmpty ? nil : change
  }
}
