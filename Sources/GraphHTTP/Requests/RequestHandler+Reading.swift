// Tests: RequestTests.swift
import GraphJSON
import GraphModel
import GraphWire
import HTTPTypes
import NIOCore

/// Reads of objects and of history.
extension RequestHandler {
  /// A page of objects, or all of them line by line.
  func list(_ entity: Entity, _ request: CheckedRequest, _ reader: GraphReader) async throws -> Reply {
    let parameters = request.parameters
    let selection = try ObjectSelection(parameters, of: entity, model)
    var fetch = Fetch(entity: entity.number)
    if let predicate = parameters["where"] { fetch.predicate = predicate }
    if let sort = parameters["sort"] { fetch.sort = sort }
    if let after = parameters["after"], !after.isEmpty {
      guard let bytes = Base64.bytes(after) else {
        throw Problem.malformed("after is not a cursor: copy it complete and unchanged from an earlier answer")
      }
      fetch.after = bytes
    }
    fetch.at = try await reader.revision(parameters["at"])
    if request.wantsLines {
      guard !selection.includesObjects else {
        throw Problem.malformed("include adds objects to a page; it can't be used with application/x-ndjson")
      }
      if let limit = try parameters.integer("limit", in: 1...Int64.max) { fetch.limit = UInt64(limit) }
      return try await lines(fetch, selection, reader)
    }
    let limit = try parameters.integer("limit", in: 1...HTTPLimits.maximumPage) ?? HTTPLimits.defaultPage
    fetch.limit = UInt64(limit)
    let page = try await reader.page(fetch)
    let tag = EntityTag.list(page.at.revision)
    let hasRights = try await reader.session.hasRights()
    if !hasRights, request.isCurrent(tag) { return .notModified(tag) }
    var members = [
      JSON.Member("objects", .array(try await selection.json(of: page.images, reader, at: page.at.revision)))
    ]
    if selection.includesObjects {
      let included = try await selection.includedObjects(of: page.images, reader, at: page.at.revision)
      members.append(.init("included", .array(included)))
    }
    members.append(.init("next", page.next.isEmpty ? .null : .string(Base64.text(page.next))))
    members.append(.init("revision", .integer(page.at.revision)))
    if !page.damage.objects.isEmpty {
      let damaged = page.damage.objects.sorted().map { id in
        JSON.object([
          .init("id", .string(id.description)), .init("entity", .string(model.entityName(id.entity))),
        ])
      }
      members.append(.init("damaged", .array(damaged)))
    }
    return .tagged(.object(members), tag, hasRights: hasRights, request)
  }

  /// All objects of a fetch, one per line. The first part is read before the answer begins, so that an error in the
  /// request can still be answered with a status.
  private func lines(_ fetch: Fetch, _ selection: ObjectSelection, _ reader: GraphReader) async throws -> Reply {
    let session = reader.session
    let request = try await session.begin(.fetch(fetch))
    guard case .chunk(let first) = try await session.part(of: request) else {
      throw Refusal(.unavailable, "the server answered a fetch with something else")
    }
    return Reply(
      .ok,
      .stream { write in
        var chunk = first
        while true {
          let part = chunk
          let bytes = try await offLoop {
            // Relationships that are stored at their other end are read at `at`. Without it, they are read at the
            // newest revision, and those of the last part at the revision of the fetch.
            let objects = try await selection.json(of: part.objects, reader, at: fetch.at ?? part.end?.at.revision)
            var bytes = [UInt8]()
            for object in objects {
              object.write(to: &bytes)
              bytes.append(UInt8(ascii: "\n"))
            }
            return bytes
          }
          if !bytes.isEmpty { try await write(ByteBuffer(bytes: bytes)) }
          if let end = chunk.end {
            // A list without the damaged objects must not look complete.
            guard chunk.damage.objects.isEmpty else {
              throw Refusal(.unavailable, "\(chunk.damage.objects.count) of \(end.count) objects are damaged")
            }
            return
          }
          guard case .chunk(let next) = try await session.part(of: request) else {
            throw Refusal(.unavailable, "the server answered a fetch with something else")
          }
          chunk = next
        }
      }, type: "application/x-ndjson")
  }

  /// One object.
  func object(_ id: ObjectID, _ request: CheckedRequest, _ reader: GraphReader) async throws -> Reply {
    let entity = model.ownEntity(id.entity)
    let selection = try ObjectSelection(request.parameters, of: entity, model)
    let revision = try await reader.revision(request.parameters["at"])
    let (image, head) = try await reader.image(id, at: revision)
    guard let image else { throw missing(id.description, entity) }
    let tag = selection.isPlain ? EntityTag.object(image.revision) : EntityTag.list(head)
    let hasRights = try await reader.session.hasRights()
    if !hasRights, request.isCurrent(tag) { return .notModified(tag) }
    if selection.isPlain, image.approximateSize <= HTTPLimits.sizeWrittenOnLoop {
      return .tagged(ObjectJSON.object(image, model), tag, hasRights: hasRights, request)
    }
    return try await offLoop {
      try await .tagged(
        json(of: image, selection, reader, at: head), tag, hasRights: hasRights, request)
    }
  }

  /// An object with everything that a request selects.
  private func json(
    of image: ObjectImage, _ selection: ObjectSelection, _ reader: GraphReader, at head: Revision
  ) async throws -> JSON {
    var json = try await selection.json(of: [image], reader, at: head)[0]
    if selection.includesObjects, let members = json.members {
      let included = try await selection.includedObjects(of: [image], reader, at: head)
      json = .object(members + [.init("included", .array(included))])
    }
    return json
  }

  /// Commits of the log.
  func history(_ request: CheckedRequest, _ reader: GraphReader) async throws -> Reply {
    let parameters = request.parameters
    var log = LogRequest()
    if let after = try parameters.integer("after", in: 0...Int64.max) { log.after = after }
    let limit = try parameters.integer("limit", in: 1...Self.maximumCommits) ?? Self.defaultCommits
    log.limit = UInt64(limit)
    log.changes = try parameters.integer("changes", in: 0...Int64.max).map { UInt64($0) }
    if let author = parameters["author"] { log.filter.authors = [author] }
    if let name = parameters["entity"] { log.filter.entities = [try entity(name).number] }
    if let object = parameters["object"] { log.filter.object = object }
    log.filter.since = try time("since", parameters)
    log.filter.until = try time("until", parameters)
    switch parameters["order"] {
    case nil, "newest"?: break
    case "oldest"?: log.oldestFirst = true
    case let order?: throw Problem.malformed("order is \(order.excerpt); it must be newest or oldest")
    }
    let commits = try await self.commits(log, reader.session)
    return .json(.ok, .array(commits.map { ObjectJSON.commit($0, model) }))
  }

  private static let defaultCommits: Int64 = 20
  static let maximumCommits: Int64 = 1_000

  private func time(_ name: String, _ parameters: QueryParameters) throws(Problem) -> Timestamp? {
    guard let text = parameters[name] else { return nil }
    guard let time = RFC3339.timestamp(text) else {
      throw .malformed("\(name) is \(text.excerpt); it must be a time such as 2026-11-21T14:00:00Z")
    }
    return time
  }

  /// The commits of a request for history, up to the maximum size of an answer.
  func commits(_ log: LogRequest, _ session: RequestSession) async throws -> [CommitEntry] {
    var commits = [CommitEntry]()
    var size = 0
    let request = try await session.begin(.log(log))
    while true {
      guard case .log(let part, let last, _) = try await session.part(of: request) else {
        throw Refusal(.unavailable, "the server answered a request for history with something else")
      }
      for change in part.flatMap(\.changes) {
        size += 100
        if let object = change.object { size += object.values.reduce(0) { $0 + $1.approximateSize } }
      }
      commits += part
      guard size <= HTTPLimits.maximumAnswerSize else {
        throw Refusal(
          .limit,
          "the answer has more than \(HTTPLimits.maximumAnswerSize) bytes: ask for fewer commits with limit, or for "
            + "fewer changes of each with changes")
      }
      if last { return commits }
    }
  }
}
