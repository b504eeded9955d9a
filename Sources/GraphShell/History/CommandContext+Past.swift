import GraphModel
import GraphReplica
import GraphWire
import StickiesKit

/// Finds objects that may have been deleted.
extension CommandContext {
  /// Finds an existing or deleted object. Its name is a number (`3`, `#3`) if the entity is numbered, otherwise a
  /// prefix of its id.
  func past(_ name: String) async throws -> ObjectID {
    if let digits = Self.digits(of: name), let property = numbered {
      guard let number = Int64(digits), let id = try await numbered(number, property) else {
        let noun = model.entity(property.owner)?.name.lowercased() ?? "object"
        throw Refusal(
          .notFound,
          "there is no \(noun) number \(digits), and the log has no deleted one\(try await prunedPart())")
      }
      return id
    }
    let request = LogRequest(limit: 1, filter: HistoryFilter(object: name))
    if let id = try await client.log(request).first?.changes.first?.id { return id }
    // The remaining history does not contain it: it may exist anyway, its history pruned.
    if UniqueID.range(ofPrefix: name) != nil {
      do {
        return try await object(name).id
      } catch let refusal as Refusal where refusal.code == .notFound {}
    }
    throw Refusal(.notFound, "there is no object whose id begins with \"\(name)\"\(try await prunedPart())")
  }

  /// The addition to a "there is no" message if history was pruned.
  private func prunedPart() async throws -> String {
    let oldest = try await client.status().oldest
    return oldest == 0 ? "" : "; deletes up to revision \(oldest) were pruned"
  }

  /// The only attribute with sequence numbers; nil if there are none or several.
  private var numbered: Property? {
    let sequences = model.entities.flatMap(\.attributes).filter { $0.attribute?.assignment == .sequence }
    let numbers = Set(sequences.map(\.number))
    return numbers.count == 1 ? sequences.first : nil
  }

  /// Maximum number of commits that are searched for a deleted object.
  private static let commitsLookedThrough = 20_000
  private static let commitsInOneRequest = 1_000

  private func numbered(_ number: Int64, _ property: Property) async throws -> ObjectID? {
    guard let entity = model.entity(property.owner) else { return nil }
    let there = try await images(entity.name, where: .equal(property, .integer(number)), limit: 1)
    if let image = there.first { return image.id }
    var request = LogRequest(
      limit: UInt64(Self.commitsInOneRequest), filter: HistoryFilter(entities: [entity.number]))
    for _ in 0..<(Self.commitsLookedThrough / Self.commitsInOneRequest) {
      let commits = try await client.log(request)
      for change in commits.flatMap(\.changes) where change.kind == .removed {
        if let object = change.object, object[property] == .integer(number) { return object.id }
      }
      guard let last = commits.last?.revision, last > 1, commits.count == Self.commitsInOneRequest else { return nil }
      request.through = last - 1
    }
    return nil
  }

  /// The entities with these names.
  func entities(_ names: [String]) throws -> [EntityNumber] { try names.map { try known($0).number } }
}
