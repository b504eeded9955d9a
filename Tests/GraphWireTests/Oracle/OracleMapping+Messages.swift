import GraphModel
import GraphWire

extension OracleMapping {
  // MARK: - From the client

  func message(_ message: ToServer) -> Graph_ToServer {
    make {
      $0.request = message.request
      $0.body =
        switch message.body {
        case .hello(let hello): .hello(self.hello(hello))
        case .model: .model(make { _ in })
        case .fetch(let fetch): .fetch(self.fetch(fetch))
        case .commit(let transaction): .commit(make { $0.transaction = self.transaction(transaction) })
        case .undo(let undo):
          .undo(
            make {
              $0.id = transactionID(undo.id)
              $0.revision = undo.revision ?? 0
              $0.scope = data(undo.scope?.bytes ?? [])
              $0.redo = undo.redo
            })
        case .subscribe(let subscribe): .subscribe(self.subscribe(subscribe))
        case .unsubscribe(let query): .unsubscribe(make { $0.query = query })
        case .more(let request): .more(make { $0.request = request })
        case .cancel(let request): .cancel(make { $0.request = request })
        case .log(let log): .log(self.log(log))
        case .status: .status(make { _ in })
        case .ping: .ping(make { _ in })
        case .close(let code, let message): .close(close(code, message))
        case .presence(let state): .presence(make { $0.state = data(state) })
        case .undoState(let scope): .undoState(make { $0.scope = data(scope?.bytes ?? []) })
        case .batchRows(let rows): .batchRows(self.rows(rows))
        case .batch(let batch): .batch(self.batch(batch))
        case .revisionAt(let time): .revisionAt(make { $0.time = time })
        case .why(let object, let property):
          .valueOrigin(
            make {
              $0.object = id(object)
              $0.property = property
            })
        case .restore(let restore): .restore(self.restore(restore))
        case .changes(let changes): .changes(self.changes(changes))
        case .exportGraph: .exportGraph(make { _ in })
        case .importGraph(let request):
          .importGraph(
            make {
              $0.id = transactionID(request.id)
              $0.rows = request.rows
            })
        case .moveWindow(let query, let offset, let limit):
          .moveWindow(
            make {
              $0.query = query
              $0.offset = offset
              $0.limit = limit
            })
        case .browserLogin(let user): .browserLogin(make { $0.user = user })
        }
    }
  }

  private func hello(_ hello: Hello) -> Graph_Hello {
    make {
      $0.protocol = hello.protocolVersion
      $0.model = data(hello.model?.bytes ?? [])
      $0.replica = data(hello.replica.bytes)
      $0.author = hello.author
      $0.program = hello.program
      if let token = hello.token { $0.token = self.token(token) }
      $0.credential = hello.credential
    }
  }

  private func fetch(_ fetch: Fetch) -> Graph_Fetch {
    make {
      $0.entity = fetch.entity
      $0.predicate = fetch.predicate
      $0.sort = fetch.sort
      $0.limit = fetch.limit
      $0.offset = fetch.offset
      $0.result =
        switch fetch.result {
        case .objects: .objects
        case .identifiers: .identifiers
        case .count: .count
        case .rows: .rows
        }
      $0.properties = fetch.properties
      $0.distinct = fetch.distinct
      $0.groupBy = fetch.groupBy
      $0.after = data(fetch.after)
      $0.explain = fetch.explain
      if let at = fetch.at { $0.at = make { $0.revision = at } }
    }
  }

  private func subscribe(_ subscribe: Subscribe) -> Graph_Subscribe {
    make {
      $0.replaces = subscribe.replaces
      $0.entity = subscribe.entity
      $0.predicate = subscribe.predicate
      $0.wholeObjects = subscribe.wholeObjects
      $0.resume = subscribe.since != nil
      if let since = subscribe.since { $0.since = token(since) }
      if let window = subscribe.window {
        $0.window = make {
          $0.sort = window.sort
          $0.offset = window.offset
          $0.limit = window.limit
        }
      }
    }
  }

  private func close(_ code: String, _ message: String) -> Graph_Close {
    make {
      $0.code = code
      $0.message = message
    }
  }

  // MARK: - From the server

  func message(_ message: ToClient) -> Graph_ToClient {
    make {
      $0.request = message.request
      $0.body =
        switch message.body {
        case .welcome(let welcome): .welcome(self.welcome(welcome))
        case .refused(let refusal): .refused(self.refusal(refusal))
        case .model(let source, let hash):
          .model(
            make {
              $0.source = source
              $0.hash = data(hash.bytes)
            })
        case .chunk(let chunk): .chunk(self.chunk(chunk))
        case .committed(let committed, let objects, let isComplete, let deleted):
          .committed(
            make {
              $0.result = self.committed(committed)
              $0.objects = objects.map(object)
              $0.complete = isComplete
              $0.deleted = deleted.map(id)
            })
        case .subscribed(let query, let resumed, let known):
          .subscribed(
            make {
              $0.query = query
              $0.resumed = resumed
              $0.known = known
            })
        case .unsubscribed(let query): .unsubscribed(make { $0.query = query })
        case .delta(let delta): .delta(self.delta(delta))
        case .advance(let revision, let fingerprint):
          .advance(
            make {
              $0.revision = revision
              $0.fingerprint = fingerprint
            })
        case .reset(let query, let reason):
          .reset(
            make {
              $0.query = query
              $0.reason = reason
            })
        case .log(let commits, let last, let damage):
          .log(
            make {
              $0.commits = commits.map(entry)
              $0.last = last
              if !damage.isEmpty { $0.damage = self.damage(damage) }
            })
        case .status(let status): .status(self.status(status))
        case .pong(let head): .pong(make { $0.head = token(head) })
        case .close(let code, let message): .close(close(code, message))
        case .presence(let session, let author, let state, let left):
          .presence(
            make {
              $0.session = session
              $0.author = author
              $0.state = data(state)
              $0.left = left
            })
        case .undoState(let state):
          .undoState(
            make {
              if let undo = state.undo { $0.undo = step(undo) }
              if let redo = state.redo { $0.redo = step(redo) }
            })
        case .progress(let progress):
          .progress(
            make {
              $0.done = UInt64(progress.done)
              $0.total = UInt64(progress.total)
              $0.changed = UInt64(progress.changed)
            })
        case .revisionAt(let found):
          .revisionAt(
            make {
              $0.revision = found.revision
              $0.time = found.time
              $0.author = found.author
              $0.head = token(found.head)
            })
        case .why(let origin): .valueOrigin(self.origin(origin))
        case .followed(let commits, let at, let head, let damage):
          .followed(
            make {
              $0.commits = commits.map(entry)
              $0.at = token(at)
              $0.head = token(head)
              if !damage.isEmpty { $0.damage = self.damage(damage) }
            })
        case .differences(let differences, let last, let damage):
          .differences(
            make {
              $0.differences = differences.map(difference)
              $0.last = last
              if !damage.isEmpty { $0.damage = self.damage(damage) }
            })
        case .exportHead(let head):
          .exportHead(
            make {
              $0.at = token(head.at)
              $0.objects = head.objects
            })
        case .rights(let grants): .rights(make { $0.grants = grants.map(grant) })
        case .windowMoved(let moved):
          .windowMoved(
            make {
              $0.query = moved.query
              $0.rows = moved.rows.map(id)
              $0.objects = moved.objects.map(object)
              $0.total = moved.total
              $0.at = token(moved.at)
            })
        case .browserCode(let code):
          .browserCode(
            make {
              $0.code = code.code
              $0.url = code.url
              $0.milliseconds = code.milliseconds
            })
        }
    }
  }

  private func welcome(_ welcome: Welcome) -> Graph_Welcome {
    make {
      $0.protocol = welcome.protocolVersion
      $0.model = data(welcome.model.bytes)
      $0.head = token(welcome.head)
      $0.session = welcome.session
      $0.server = welcome.server
      $0.resumed = welcome.resumed
      $0.entities = welcome.entities.map { entity in
        make {
          $0.number = entity.number
          $0.name = entity.name
          $0.properties = entity.properties.map { property in
            make {
              $0.number = property.number
              $0.name = property.name
              $0.type = property.type
              $0.stored = property.isStored
            }
          }
        }
      }
      $0.maximumFrame = welcome.maximumFrameSize
      $0.heartbeatMilliseconds = welcome.heartbeatMilliseconds
      $0.lastSequence = welcome.lastSequence
      $0.author = welcome.author
      $0.principal = welcome.principal
      $0.role = welcome.role
      $0.grants = welcome.grants.map(grant)
      $0.rules = welcome.rules
    }
  }

  private func step(_ step: UndoStep) -> Graph_UndoStep {
    make {
      if let group = step.group { $0.group = undoGroup(group) }
      $0.oldest = step.oldest
      $0.newest = step.newest
      $0.count = UInt64(step.count)
    }
  }

  private func chunk(_ chunk: Chunk) -> Graph_Chunk {
    make {
      $0.objects = chunk.objects.map(object)
      if let end = chunk.end {
        $0.last = true
        $0.at = token(end.at)
        $0.count = end.count
      }
      $0.rows = chunk.rows.map { row in make { $0.values = row.map(value) } }
      $0.columns = chunk.columns.map { column in
        make {
          $0.name = column.name
          $0.type = column.type
        }
      }
      $0.next = data(chunk.next)
      if let explanation = chunk.explanation { $0.explanation = self.explanation(explanation) }
      if let total = chunk.total { $0.total = make { $0.count = total } }
      if !chunk.damage.isEmpty { $0.damage = damage(chunk.damage) }
    }
  }

  private func damage(_ damage: DamageNotice) -> Graph_DamageNotice {
    make {
      $0.objects = damage.objects.map(id)
      $0.commits = damage.commits.map { revision in make { $0.revision = revision } }
    }
  }

  private func explanation(_ explanation: FetchExplanation) -> Graph_Explanation {
    make {
      $0.statements = explanation.statements
      $0.arguments = explanation.arguments
      $0.plan = explanation.plan
      $0.indexes = explanation.indexes
      $0.checksInMemory = explanation.checksInMemory
      $0.microseconds = explanation.microseconds
      $0.count = UInt64(explanation.count)
      $0.advice = explanation.advice
    }
  }

  private func delta(_ delta: Delta) -> Graph_Delta {
    make {
      $0.query = delta.query
      $0.revision = delta.revision
      $0.time = delta.time
      $0.author = delta.author
      $0.fingerprint = delta.fingerprint
      $0.changes = delta.changes.map(change)
      if let total = delta.total { $0.total = make { $0.count = total } }
    }
  }

  private func change(_ change: Delta.Change) -> Graph_DeltaChange {
    make {
      $0.kind =
        switch change.kind {
        case .inserted: .insert
        case .updated: .update
        case .removed: .delete
        }
      if let image = change.object { $0.object = object(image) } else { $0.id = id(change.id) }
      $0.previousRevision = change.previous
      $0.edits = change.edits.map(edit)
      $0.deleted = change.deleted
      if let place = change.place { $0.index = make { $0.count = place } }
    }
  }

  private func entry(_ entry: CommitEntry) -> Graph_CommitEntry {
    make {
      $0.revision = entry.revision
      $0.time = entry.time
      $0.author = entry.author
      $0.transaction = transactionID(entry.transaction)
      $0.undoes = entry.undoes ?? 0
      $0.changes = entry.changes.map(change)
      $0.fingerprint = entry.fingerprint
      $0.redoes = entry.redoes ?? 0
      if let undo = entry.undo { $0.undo = undoGroup(undo) }
      $0.unlisted = entry.unlisted
      $0.more = entry.more
    }
  }

  private func grant(_ grant: Welcome.GrantEntry) -> Graph_Grant {
    make {
      $0.role = grant.role
      if let scope = grant.scope { $0.scope = data(scope.bytes) }
    }
  }

  private func status(_ status: ServerStatus) -> Graph_StatusReply {
    make {
      $0.server = status.server
      $0.location = status.location
      $0.size = status.size
      $0.head = token(status.head)
      $0.sessions = status.sessions
      $0.liveQueries = status.registrations
      $0.counters = status.counters.map { counter in
        make {
          $0.property = counter.property
          $0.next = counter.next
        }
      }
      $0.processID = status.process
      $0.failure = status.failure
      $0.commitLogSize = status.commitLogSize
      $0.exposures = status.exposures
      $0.web = status.web
      $0.oldest = status.oldest
    }
  }
}
