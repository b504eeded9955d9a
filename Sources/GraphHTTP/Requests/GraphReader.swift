// Tests: RequestTests.swift
import GraphJSON
import GraphModel
import GraphWire

/// Reads objects, members of relationships and revisions for a request.
struct GraphReader: Sendable {
  let session: RequestSession
  let model: Model

  /// The objects of a fetch, and its end.
  struct Page {
    var images = [ObjectImage]()
    var at = Token(store: .zero, revision: 0, fingerprint: 0)
    var next = [UInt8]()
    var damage = DamageNotice()
  }

  /// Reads a fetch completely.
  /// - Throws: `Refusal`, also for an answer above `HTTPLimits.maximumAnswerSize`.
  func page(_ fetch: Fetch) async throws -> Page {
    var page = Page()
    var size = 0
    let request = try await session.begin(.fetch(fetch))
    while true {
      guard case .chunk(let chunk) = try await session.part(of: request) else {
        throw Refusal(.unavailable, "the server answered a fetch with something else")
      }
      for image in chunk.objects { size += image.values.reduce(100) { $0 + $1.approximateSize } }
      page.images += chunk.objects
      guard size <= HTTPLimits.maximumAnswerSize else {
        throw Refusal(
          .limit,
          "the answer has more than \(HTTPLimits.maximumAnswerSize) bytes: ask for fewer objects with limit, or for "
            + "application/x-ndjson")
      }
      if let end = chunk.end {
        (page.at, page.next, page.damage) = (end.at, chunk.next, chunk.damage)
        return page
      }
    }
  }

  /// An object, and the revision at which it was read.
  func image(_ id: ObjectID, at revision: Revision? = nil) async throws -> (image: ObjectImage?, head: Revision) {
    let predicate = GraphPredicate.identifiers([id]).text(in: model)
    let page = try await page(Fetch(entity: id.entity, predicate: predicate, limit: 1, at: revision))
    return (page.images.first, page.at.revision)
  }

  /// The objects with these ids, by id; deleted ones are missing.
  func images(_ ids: [ObjectID], of entity: Entity, at revision: Revision?) async throws -> [ObjectImage] {
    var images = [ObjectImage]()
    for start in stride(from: 0, to: ids.count, by: Self.idsInOneRequest) {
      let part = Array(ids[start..<min(start + Self.idsInOneRequest, ids.count)])
      let predicate = GraphPredicate.identifiers(part).text(in: model)
      images += try await page(Fetch(entity: entity.number, predicate: predicate, at: revision)).images
    }
    return images
  }

  private static let idsInOneRequest = 1_000

  /// The members of a to-many relationship that is stored at its other end, in the order of the relationship.
  func members(
    of property: Property, owners: [ObjectID], at revision: Revision?
  ) async throws -> [ObjectID: [ObjectID]] {
    let relationship = try invariant(property.relationship, "only a relationship has members")
    let (inverse, entity) = (model.inverse(of: relationship), model.destination(of: relationship))
    let position = relationship.position.map { model.ownProperty($0) }
    var found = [ObjectID: [OrderedMemberKey]]()
    for start in stride(from: 0, to: owners.count, by: Self.idsInOneRequest) {
      let part = Array(owners[start..<min(start + Self.idsInOneRequest, owners.count)])
      var predicate = GraphPredicate.in(inverse, part.map(Value.object))
      if inverse.relationship?.isToMany == true {
        let path = GraphPredicate.Path(hops: [inverse.number], end: .identifier)
        predicate = .comparison(.init(.any, path, .in, .list(part.map(Value.object))))
      }
      let asked = Set(part)
      let fetch = Fetch(entity: entity.number, predicate: predicate.text(in: model), at: revision)
      for image in try await page(fetch).images {
        var key = OrderedMemberKey(position: 0, id: image.id)
        if let position, case .integer(let number) = image[position] { key.position = number }
        for owner in image[inverse].objectIDs where asked.contains(owner) { found[owner, default: []].append(key) }
      }
    }
    return found.mapValues { $0.sorted().map(\.id) }
  }

  /// The revision that a parameter names: by its number, or as the newest one at a time.
  func revision(_ text: String?) async throws -> Revision? {
    guard let text else { return nil }
    if let number = Revision(text), number >= 0 { return number }
    guard let time = RFC3339.timestamp(text) else {
      throw Problem.malformed("at is \(text.excerpt); it must be a revision, or a time such as 2026-11-21T14:00:00Z")
    }
    guard case .revisionAt(let found) = try await session.answer(to: .revisionAt(time)) else {
      throw Refusal(.unavailable, "the server answered a request for a revision with something else")
    }
    return found.revision
  }

  /// The newest revision.
  func head() async throws -> Revision {
    guard case .revisionAt(let found) = try await session.answer(to: .revisionAt(.max)) else {
      throw Refusal(.unavailable, "the server answered a request for a revision with something else")
    }
    return found.head.revision
  }
}
