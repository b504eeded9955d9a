import GraphModel

/// The checks of a user's edits: of texts, of lists, and of the base revisions of edits.
///
/// They span the restarts of the client, and compare the edits with the commits at quiet moments.
struct EditChecks {
  var textMerges: TextMergeCheck
  private(set) var listOrders = ListOrderCheck()
  var lostUpdates = LostUpdateCheck()
  private let model: Model
  private let text: PropertyNumber

  /// - Parameter model: the model of the store.
  init(client: Int, model: Model) {
    guard let text = model.entity(named: "Item")?.property(named: "text") else {
      preconditionFailure("the simulation's model has texts")
    }
    textMerges = TextMergeCheck(client: client)
    self.model = model
    self.text = text.number
  }

  mutating func record(_ id: TransactionID, _ committed: CommitResult) {
    textMerges.record(id, committed)
    listOrders.record(id, committed)
    lostUpdates.record(id, committed)
  }

  /// Records a sent transaction.
  /// - Parameter isReverted: whether it is based on a state that a restore removed.
  mutating func record(sent transaction: Transaction, isReverted: Bool) {
    textMerges.record(transaction, text: text)
    listOrders.record(transaction)
    lostUpdates.record(transaction, model: model)
    if isReverted {
      textMerges.exempt(transaction, text: text)
      lostUpdates.exempt(transaction.id)
    }
  }
}
