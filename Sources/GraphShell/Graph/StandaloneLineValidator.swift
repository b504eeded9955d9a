import GraphModel

/// Validates lines before they are sent. Lines with mistakes are never sent, so the daemon would not report which
/// other lines violate rules, and the user should get all errors at once.
///
/// Checks only rules that a line alone determines: missing and wrong values, the model's own rules. Rules that depend
/// on other objects, such as unique keys, are checked when the lines are committed.
struct StandaloneLineValidator: PlannerReader {
  let model: Model

  /// - Returns: the violations; each has the id of its insert.
  func violations(of changes: [Change]) -> [Violation] {
    var last: UInt64 = 0
    do {
      _ = try TransactionPlanner.plan(
        Transaction(
          id: TransactionID(replica: UniqueID(high: 1, low: 1), sequence: 1), policy: .error, changes: changes),
        reader: self, revision: 1, now: 0, author: "author"
      ) { entity in
        last += 1
        return ObjectID(key: UniqueID(high: 1, low: last), entity: entity)
      }
      return []
    } catch let refusal as Refusal {
      return refusal.violations.filter { $0.commonRule?.isAboutOthers != true }
    } catch {
      assertionFailure("a plan over no store fails by a refusal: \(error)")
      return []
    }
  }

  // Referenced objects are assumed to exist.

  func image(of id: ObjectID) -> ObjectImage? { nil }
  func entity(of id: ObjectID) -> EntityNumber? { id.entity }
  func deletion(of id: ObjectID) -> (revision: Revision, author: String)? { nil }
  func referrers(to id: ObjectID, through property: Property) -> [ObjectID] { [] }
  func members(
    of parent: ObjectID, through reference: Property, beyond place: OrderedMemberKey?, ascending: Bool, limit: Int
  ) -> [OrderedMemberKey] { [] }
  func history(of id: ObjectID, after revision: Revision) -> [PastChange] { [] }
  func object(of entity: Entity, matching constraint: [PropertyNumber], values: [Value]) -> ObjectID? { nil }
  func nextInSequence(_ property: PropertyNumber) -> Int64 { 1 }
}
