/// The past as visible to the transaction's author.
extension TransactionPlanner {
  /// The object's changes after `revision`, oldest first, as far as the author's version of the model shows them.
  func past(of id: ObjectID, after revision: Revision) throws -> [PastChange] {
    let past = try reader.history(of: id, after: revision)
    return transaction.unseen.isEmpty ? past : past.compactMap { $0.seen(without: transaction.unseen) }
  }
}

extension PastChange {
  /// The change without the edits of some properties; nil for an update that has no others.
  func seen(without unseen: Set<PropertyNumber>) -> PastChange? {
    var change = self
    change.edits.removeAll { unseen.contains($0.property) }
    change.reversals.removeAll { unseen.contains($0.property) }
    return change.kind == .updated && change.edits.isEmpty && !edits.isEmpty ? nil : change
  }
}
