/// Who came to refer to whom in a transaction. Most transactions are never asked: they only note it, and what was noted is
/// filed with the first question.
final class GainedReferrers {
  private var noted = [(reference: TransactionPlanner.Reference, id: ObjectID)]()
  private var filed = [TransactionPlanner.Reference: [ObjectID]]()

  func append(_ id: ObjectID, to reference: TransactionPlanner.Reference) { noted.append((reference, id)) }

  /// In the order in which they came.
  subscript(reference: TransactionPlanner.Reference) -> [ObjectID] {
    if noted.isEmpty, filed.isEmpty { return [] }
    for entry in noted { filed[entry.reference, default: []].append(entry.id) }
    noted.removeAll(keepingCapacity: true)
    return filed[reference] ?? []
  }
}
