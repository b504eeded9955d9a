import GraphModel
import GraphReplica
import GraphWire

/// Performs the context's actions: sends messages, and resumes the continuations of answers.
extension GraphClient {
  func handle(_ event: ReplicaEvent) {
    context.handle(event)
    perform()
  }

  /// Performs the context's actions since the last call. Controllers, which follow queries by the context itself,
  /// call it.
  public func perform() {
    // An action may cause further ones: a request that is too large is answered here.
    while perform(context.takeActions()) {}
    keepTime()
  }

  /// Performs actions.
  /// - Returns: false when there was nothing to do.
  private func perform(_ actions: [ReplicaAction]) -> Bool {
    guard !actions.isEmpty else { return false }
    let connection = connection
    // The handler of a notification may send requests at once: earlier messages must be sent before it runs. The same
    // applies to handlers of the connection's state.
    for action in actions where action.isForTheConnection {
      if case .welcomed(let welcome) = action { self.welcome = welcome } else { perform(action) }
    }
    for action in actions {
      switch action {
      case .welcomed: if connection == self.connection, transport != nil { perform(action) }
      case _ where action.isForTheConnection: break
      default: perform(action)
      }
    }
    return true
  }

  private func perform(_ action: ReplicaAction) {
    switch action {
    case .send(let message): send(message)
    case .disconnect(let refusal): lost(refusal)
    case .welcomed:
      state = .connected
      pause = options.firstPauseMilliseconds
      settle()
      opening?.resume()
      opening = nil
    // A server that rejects this client has not reported the outcome of its commit.
    case .rejected(let refusal): fail(outcomeDeadline == nil ? refusal : Self.unknownOutcome)
    case .saved(let id, let result):
      saves.removeValue(forKey: id)?.resume(with: result.mapError { $0 as any Error })
      forgetOutcomeDeadline()
    case .loaded(let query, let images, let at):
      loading.removeValue(forKey: query)?.resume()
      watches[query]?.body(.loaded(query, images, at: at))
    case .loadedWindow(let query, let rows, let at):
      loading.removeValue(forKey: query)?.resume()
      watches[query]?.body(.loadedWindow(query, rows, at: at))
    case .resumed(let query, let since):
      loading.removeValue(forKey: query)?.resume()
      watches[query]?.body(.resumed(query, since: since))
    case .changed(let update): tell(update)
    case .refusedQuery(let query, let refusal):
      loading.removeValue(forKey: query)?.resume(throwing: refusal)
      watches.removeValue(forKey: query)?.body(.ended(refusal))
    case .chunk(let request, let chunk):
      replies[request]?.put(chunk)
      if chunk.end != nil { replies[request] = nil }
    case .answer(let request, let answer):
      replies[request]?.put(answer)
      switch answer {
      case .log(_, last: false), .differences(_, last: false), .progress, .exportHead: break
      default: replies[request] = nil
      }
    case .filled(let load, let refusal): end(load, refusal)
    case .refused(let request, let refusal): replies.removeValue(forKey: request)?.end(refusal)
    case .presence(let session, let author, let state, let left):
      presenceDidChange?(Presence(session: session, author: author, state: left ? nil : state))
    case .silence(let isSilent): self.isSilent = isSilent
    // The context has built it again.
    case .outdated: break
    case .diverged:
      var told = Set<ObjectIdentifier>()
      for (_, watch) in watches.sorted(by: { $0.key < $1.key }) where told.insert(ObjectIdentifier(watch)).inserted {
        watch.body(.diverged)
      }
    }
  }

  private func send(_ message: ToServer) {
    let frame = Frame.encode(message)
    let limit = min(Int(clamping: welcome?.maximumFrameSize ?? .max), ProtocolLimits.maximumFrameSize)
    guard frame.count - ProtocolLimits.headerSize <= max(limit, 1 << 16) else {
      // The server would close the connection, and each later one on which it is sent again.
      let refusal = Refusal(.limit, "the request has \(frame.count) bytes; a frame can have at most \(limit): split it")
      return context.handle(.received(ToClient(message.request, .refused(refusal))))
    }
    transport?.send(frame)
  }

  /// Calls each watch once for a commit, with all of its changes to the watch's queries.
  private func tell(_ update: CommitUpdate) {
    var told = [ObjectIdentifier: (Watch, CommitUpdate)]()
    var order = [ObjectIdentifier]()
    for (query, changes) in update.changes {
      guard let watch = watches[query] else { continue }
      let key = ObjectIdentifier(watch)
      if told[key] == nil {
        told[key] = (
          watch, CommitUpdate(revision: update.revision, time: update.time, author: update.author, changes: [])
        )
        order.append(key)
      }
      told[key]?.1.changes.append((query, changes))
      told[key]?.1.totals[query] = update.totals[query]
    }
    for key in order { if let (watch, update) = told[key] { watch.body(.changed(update)) } }
  }
}
