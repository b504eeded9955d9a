// Tests: WriteTests.swift
import GraphJSON
import GraphModel
import GraphWire
import HTTPTypes

/// Creations, changes and deletions of one object.
extension RequestHandler {
  /// Inserts an object.
  func create(_ entity: Entity, _ request: CheckedRequest, _ reader: GraphReader) async throws -> Reply {
    precondition(!entity.isAbstract, "the route of an abstract entity has no POST")
    let policy = try request.parameters.policy()
    let body = BodyReader(model: model)
    let inputs = try body.inputs(BodyReader.document(request.body), of: entity)
    let temporary = ObjectID.temporary(1, entity: entity.number)
    let change = Change(.insert, temporary, edits: try body.edits(inputs))
    let saved = try await save([change], policy, request, reader)
    guard let id = saved.result.identities.first(where: { $0.temporary == temporary })?.permanent else {
      throw Refusal(.unavailable, "the server did not name the object that it inserted")
    }
    // A repeated request gets the present object, which other clients may have changed.
    let image = saved.isComplete ? saved.objects.first { $0.id == id } : nil
    guard let stored = if let image { image } else { try await reader.image(id).image } else {
      throw Problem.notFound(
        "the \(entity.name) \(id) was inserted in revision \(saved.result.revision), and has been deleted since")
    }
    var reply = Reply.json(.created, ObjectJSON.object(stored, model))
    reply.fields[.eTag] = EntityTag.object(stored.revision)
    // Relative to the URL of the request, so that it is correct under any prefix of a proxy.
    reply.fields[.location] = "\(PercentCoding.encode(entity.name))/\(id)"
    return reply
  }

  /// Changes an object.
  func update(_ id: ObjectID, _ request: CheckedRequest, _ reader: GraphReader) async throws -> Reply {
    let entity = model.ownEntity(id.entity)
    let body = BodyReader(model: model)
    let document = try BodyReader.document(request.body)
    let saved = try await saveOnce(request, reader, known: Change(.update, id)) {
      let expectation = try await expectation(id, entity, request, reader)
      // The object may be of a subentity, which has further properties.
      let inputs = try body.inputs(document, of: model.ownEntity(expectation.image.id.entity), allowsMembers: true)
      let read = try await expectation.readImage(
        isTextSet: inputs.contains { $0.property.attribute?.kind == .text }, id, reader)
      let edits = try body.edits(inputs, of: read, now: expectation.image)
      return expectation.transaction(.update, edits)
    }
    let image = saved.isComplete ? saved.objects.first { $0.id == id } : nil
    guard let stored = if let image { image } else { try await reader.image(id).image } else {
      throw missing(id.description, entity)
    }
    var reply = Reply.json(.ok, ObjectJSON.object(stored, model))
    reply.fields[.eTag] = EntityTag.object(stored.revision)
    return reply
  }

  /// Deletes an object and answers with the commit.
  func delete(_ id: ObjectID, _ request: CheckedRequest, _ reader: GraphReader) async throws -> Reply {
    let entity = model.ownEntity(id.entity)
    let saved = try await saveOnce(request, reader, known: Change(.update, id)) {
      try await expectation(id, entity, request, reader).transaction(.delete)
    }
    return .json(.ok, try await commitJSON(saved.result.revision, reader.session))
  }

  /// The commit of a revision.
  func commitJSON(_ revision: Revision, _ session: RequestSession) async throws -> JSON {
    let log = LogRequest(after: revision - 1, limit: 1, through: revision)
    guard let commit = try await commits(log, session).first else {
      throw Refusal(.pruned, "the commit of revision \(revision) was pruned")
    }
    return ObjectJSON.commit(commit, model)
  }

  // MARK: - Conflicts

  /// The present state of an object, and the state that the client expects when it changes the object.
  struct Expectation {
    /// The present object.
    let image: ObjectImage
    /// The revision at which the client read it.
    let base: Revision
    let policy: MergePolicy
    /// The condition of `If-Match`.
    let precondition: Precondition?

    /// The parts of a transaction with one change of the object.
    func transaction(_ kind: Change.Kind, _ edits: [Edit] = []) -> (changes: [Change], policy: MergePolicy) {
      ([Change(kind, image.id, base: base, edits: edits, onlyIf: precondition)], policy)
    }

    /// The object as the client read it; nil if that state can't be read. A text is sent as the difference from it, so
    /// that later edits of other clients are kept.
    func readImage(isTextSet: Bool, _ id: ObjectID, _ reader: GraphReader) async throws -> ObjectImage? {
      guard base < image.revision else { return image }
      do {
        return try await reader.image(id, at: base).image
      } catch let refusal as Refusal where [.pruned, .limit, .notFound].contains(refusal.code) {
        guard isTextSet else { return nil }
        throw Problem(
          .conflict, "pruned",
          "the object at revision \(base) was pruned, so your changes of its text are unknown: read it again and "
            + "repeat the edit")
      }
    }
  }

  /// Reads the object and the client's expectation of it.
  /// - Throws: `Problem` if there is no such object, or if it does not match `If-Match`.
  private func expectation(
    _ id: ObjectID, _ entity: Entity, _ request: CheckedRequest, _ reader: GraphReader
  ) async throws -> Expectation {
    // The parameters are read before the condition is checked, so that an error in them is always reported.
    let base = try request.parameters.integer("base", in: 1...Int64.max)
    let named = try request.parameters.policy()
    let wanted = try request.fields[.ifMatch].map { field throws(Problem) in try EntityTag.revision(ifMatch: field) }
    let (found, head) = try await reader.image(id)
    guard let image = found else {
      if wanted != nil { throw Problem(.preconditionFailed, "notFound", missing(id.description, entity).detail) }
      throw missing(id.description, entity)
    }
    if let base, base > head {
      throw Problem.malformed("base is \(base), and there is no such revision yet: the newest is \(head)")
    }
    if case .some(.some(let revision)) = wanted {
      guard revision == image.revision else {
        throw Problem(
          .preconditionFailed, "conflict",
          "the object was changed in revision \(image.revision); read it again, and repeat your change")
      }
      return Expectation(
        image: image, base: revision, policy: .error, precondition: Precondition(revision: revision))
    }
    // Without `base` and `policy`, a request changes the newest state, as the commands do.
    let policy: MergePolicy =
      request.parameters["policy"] == nil && base == nil ? .objectTrump : named
    return Expectation(image: image, base: base ?? max(image.revision, head), policy: policy, precondition: nil)
  }
}

/// Commits of transactions, at most one for each `Idempotency-Key`.
extension RequestHandler {
  struct Saved {
    let result: CommitResult
    let objects: [ObjectImage]
    /// Whether `objects` are all objects that the commit changed and that still exist.
    let isComplete: Bool
  }

  /// Commits changes under a replica of its own: commits of one replica never conflict with each other, so two requests
  /// must not share a replica. With a key, the replica is derived from the principal and the key, so that the store
  /// answers a repeated request with the first one's outcome.
  /// - Throws: `Problem` or `Refusal`.
  func save(
    _ changes: [Change], _ policy: MergePolicy, _ request: CheckedRequest, _ reader: GraphReader
  ) async throws -> Saved {
    let replica = try await replica(of: request, reader.session)
    return try await withSession(of: replica, request) { try await commit(changes, policy, request, $0) }
  }

  /// Commits changes that are derived from the present objects.
  ///
  /// A request that is repeated because its answer was lost finds the objects after its own changes, so that they may
  /// no longer be derivable: the objects are deleted, or do not match `If-Match`. It gets the outcome of the first
  /// request.
  /// - Parameters:
  ///   - known: a valid change, which is sent with the id of a transaction whose outcome the store knows.
  ///   - derive: returns the changes and the policy.
  func saveOnce(
    _ request: CheckedRequest, _ reader: GraphReader, known: Change,
    _ derive: () async throws -> (changes: [Change], policy: MergePolicy)
  ) async throws -> Saved {
    do {
      let (changes, policy) = try await derive()
      return try await save(changes, policy, request, reader)
    } catch let error where request.idempotencyKey != nil && Self.dependsOnState(error) {
      let replica = try await replica(of: request, reader.session)
      return try await withSession(of: replica, request) { session in
        // The first request's transaction is the only one of its replica.
        guard try await session.welcome().lastSequence > 0 else { throw error }
        return try await commit([known], .error, request, session)
      }
    }
  }

  /// Whether an error may result from the present state of the objects.
  private static func dependsOnState(_ error: any Error) -> Bool {
    switch error {
    case let problem as Problem: [.notFound, .preconditionFailed, .conflict].contains(problem.status)
    case let refusal as Refusal: [.notFound, .pruned, .conflict].contains(refusal.code)
    default: false
    }
  }

  private func withSession<Result>(
    of replica: UniqueID, _ request: CheckedRequest, _ body: (RequestSession) async throws -> Result
  ) async throws -> Result {
    let session = try await pool.session(
      credential: request.credential, replica: replica, address: request.address)
    defer { pool.release(session, isReusable: false) }
    return try await body(session)
  }

  private func commit(
    _ changes: [Change], _ policy: MergePolicy, _ request: CheckedRequest, _ session: RequestSession
  ) async throws -> Saved {
    let transaction = Transaction(
      id: TransactionID(replica: session.replica, sequence: 1), policy: policy, changes: changes)
    do {
      let answer = try await session.answer(to: .commit(transaction))
      guard case .committed(let result, let objects, let isComplete, _) = answer else {
        throw Refusal(.unavailable, "the server answered a commit with something else")
      }
      return Saved(result: result, objects: objects, isComplete: isComplete)
    } catch let refusal as Refusal {
      var problem = Problem(refusal, model, isConditional: request.fields[.ifMatch] != nil)
      // The store no longer has the outcome of an earlier request with the same key.
      if refusal.code == .pruned { problem.status = .conflict }
      throw problem
    }
  }

  private func replica(of request: CheckedRequest, _ session: RequestSession) async throws -> UniqueID {
    guard let key = request.idempotencyKey else { return .randomReplica() }
    guard !key.isEmpty, key.utf8.count <= HTTPLimits.maximumKeySize else {
      throw Problem.malformed("Idempotency-Key must have 1 to \(HTTPLimits.maximumKeySize) bytes")
    }
    return Self.replica(principal: try await session.welcome().principal, key: key)
  }

  /// The replica for an `Idempotency-Key`. All requests of the principal with the key have the same one.
  static func replica(principal: String, key: String) -> UniqueID {
    let hash = SHA256.hash(Array("http\0\(principal)\0\(key)".utf8))
    guard let replica = UniqueID(bytes: hash.prefix(16)) else { preconditionFailure("a hash has more than 16 bytes") }
    return replica
  }
}

extension CheckedRequest {
  fileprivate var idempotencyKey: String? { HTTPField.Name("Idempotency-Key").flatMap { fields[$0] } }
}

extension UniqueID {
  /// A replica that no other client has.
  static func randomReplica() -> UniqueID {
    UniqueID(high: .random(in: 1...(.max)), low: .random(in: 0...(.max)))
  }
}
