import GraphModel
import GraphWire

/// Messages about history.
extension OracleMapping {
  // MARK: - From the client

  func log(_ log: LogRequest) -> Graph_Log {
    make {
      $0.after = log.after
      $0.limit = log.limit
      $0.through = log.through
      if !log.filter.isEmpty { $0.filter = filter(log.filter) }
      $0.oldestFirst = log.oldestFirst
      if let changes = log.changes { $0.changes = changes }
    }
  }

  private func filter(_ filter: HistoryFilter) -> Graph_HistoryFilter {
    make {
      $0.authors = filter.authors
      $0.entities = filter.entities.map { number in make { $0.number = number } }
      $0.object = filter.object
      $0.since = filter.since ?? 0
      $0.until = filter.until ?? 0
    }
  }

  func restore(_ restore: RestoreRequest) -> Graph_Restore {
    make {
      $0.id = transactionID(restore.id)
      if let revision = restore.revision { $0.revision = revision }
      switch restore.scope {
      case .object(let object):
        $0.scope = .object
        $0.object = id(object)
      case .contents(let object):
        $0.scope = .contents
        $0.object = id(object)
      case .everything: $0.scope = .everything
      }
    }
  }

  func changes(_ changes: ChangesRequest) -> Graph_Changes {
    make {
      switch changes {
      case .follow(let follow):
        $0.follow = make {
          $0.since = token(follow.since)
          if !follow.filter.isEmpty { $0.filter = filter(follow.filter) }
          $0.limit = follow.limit
          $0.wait = follow.waits
        }
      case .differences(let request):
        $0.differences = make {
          $0.from = request.from
          $0.to = request.to
          if let object = request.object { $0.object = id(object) }
          $0.contents = request.contents
          $0.entities = request.entities.map { number in make { $0.number = number } }
        }
      }
    }
  }

  // MARK: - From the server

  func origin(_ origin: ValueOrigin) -> Graph_ValueOrigin {
    make {
      $0.kind =
        switch origin.kind {
        case .inserted: .inserted
        case .updated: .updated
        case .revived: .revived
        }
      $0.value = value(origin.value)
      $0.previous = value(origin.replaced)
      $0.previousIsUnknown = !origin.isReplacedKnown
      $0.revision = origin.revision
      $0.time = origin.time
      $0.author = origin.author
      $0.transaction = transactionID(origin.transaction)
      if let undo = origin.undo { $0.undo = undoGroup(undo) }
      $0.undoes = origin.undoes ?? 0
      $0.redoes = origin.redoes ?? 0
      $0.deletion = origin.deletion ?? 0
      $0.overwritten = origin.overwrittenValues.map { loser in
        make {
          $0.value = value(loser.value)
          $0.revision = loser.revision
          $0.time = loser.time
          $0.author = loser.author
        }
      }
    }
  }

  func difference(_ difference: ObjectDifference) -> Graph_Difference {
    make {
      $0.kind =
        switch difference.kind {
        case .inserted: .insert
        case .updated: .update
        case .deleted: .delete
        }
      $0.object = object(difference.object)
      $0.properties = difference.properties.map { property in
        make {
          $0.property = property.number
          $0.previous = value(property.was)
        }
      }
    }
  }
}
