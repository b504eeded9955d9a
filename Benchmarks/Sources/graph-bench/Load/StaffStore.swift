import Foundation
import GraphModel
import GraphStore

/// A store of `Staff` in this process, to measure the store without a daemon or a socket.
final class StaffStore {
  let store: SQLiteStore
  let model: Model
  private var sequence: UInt64
  private static let replica = UniqueID(high: 1, low: 1)

  /// - Parameter source: another model than that of `Staff`, for stores without people.
  init(_ directory: String, source: String = Staff.source, options: SQLiteStore.Options = .init()) throws {
    model = try Model(parsing: source.utf8)
    store = try SQLiteStore(directory: directory, model: model, options: options)
    // Each commit takes one sequence number and one revision, so earlier processes of this program have not used the
    // next one.
    sequence = UInt64(try store.head.revision)
  }

  func entity(_ name: String) throws -> Entity {
    guard let entity = model.entity(named: name) else { throw BenchmarkError(description: "no entity \(name)") }
    return entity
  }

  func property(_ entity: String, _ name: String) throws -> Property {
    guard let property = try self.entity(entity).property(named: name) else {
      throw BenchmarkError(description: "no property \(entity).\(name)")
    }
    return property
  }

  func edit(_ entity: String, _ name: String, _ value: Value) throws -> Edit {
    Edit(try property(entity, name).number, .set(value))
  }

  func insertion(_ entity: String, _ number: Int, _ values: [(name: String, value: Value)]) throws -> Change {
    Change(
      .insert, .temporary(UInt64(number + 1), entity: try self.entity(entity).number),
      edits: try values.map { try edit(entity, $0.name, $0.value) })
  }

  func transaction(_ changes: [Change]) -> WriteRequest {
    sequence += 1
    let id = TransactionID(replica: Self.replica, sequence: sequence)
    return .transaction(Transaction(id: id, policy: .overwrite, changes: changes), author: Principal(author: "bench"))
  }

  /// Performs a write that must succeed and returns its outcome.
  @discardableResult
  func perform(_ request: WriteRequest) throws -> CommitResult {
    let time = Timestamp(Date().timeIntervalSince1970 * 1e6)
    switch try store.commit([request], now: time)[0].outcome {
    case .committed(let committed): return committed
    case .refused(let refusal): throw BenchmarkError(description: "refused: \(refusal.message)")
    }
  }

  /// Commits changes and returns the permanent ids of the inserted objects, in order.
  @discardableResult
  func commit(_ changes: [Change]) throws -> [ObjectID] {
    try perform(transaction(changes)).identities.map(\.permanent)
  }

  /// Inserts people in commits of ten thousand, with teams in rotation, so that the members of a team are far apart.
  /// Each team is in one of 1,000 departments, the first team in the first, and each person has one of `skills`
  /// skills.
  func fill(people count: Int, teams: Int, skills: Int = 0) throws {
    let departments = try commit(
      (0..<1_000).map { try insertion("Department", $0, [("name", .string("Department \($0)"))]) })
    let skills =
      skills == 0
      ? []
      : try commit(
        (0..<skills).map { try insertion("Skill", $0, [("name", .string("Skill \($0)"))]) })
    for start in stride(from: 0, to: count, by: 10_000) {
      try commit(
        (start..<min(start + 10_000, count)).map { number in
          let home = Value.object(departments[number % teams % departments.count])
          let skill = skills.isEmpty ? [] : [("skills", Value.objects([skills[number % skills.count]]))]
          return try insertion(
            "Person", number - start, Staff.values(ofPerson: number, teams: teams) + [("department", home)] + skill)
        })
    }
  }

  func ids(of entity: String, limit: Int? = nil) throws -> [ObjectID] {
    var ids = [ObjectID]()
    _ = try store.fetch(FetchRequest(entity: try self.entity(entity).number, limit: limit)) { ids.append($0.id) }
    return ids
  }

  func close() throws { try store.close() }
}
