import Foundation
import GraphModel
import SwiftProtobuf

/// Our values as the messages that protobuf's own generator makes of graph.proto, field by field. Written by hand and
/// on purpose apart from our encoder: where the two disagree, one of them breaks the contract.
struct OracleMapping {
  /// Fields of a later version, put into every message but a value (a value has one kind, or is null).
  var unknown = UnknownStorage()

  func make<Message: SwiftProtobuf.Message>(_ fill: (inout Message) -> Void) -> Message {
    var message = Message()
    fill(&message)
    message.unknownFields = unknown
    return message
  }

  func data(_ bytes: [UInt8]) -> Data { Data(bytes) }

  // MARK: - Values and objects

  func id(_ id: ObjectID) -> Graph_ObjectID {
    make {
      $0.high = id.key.high
      $0.low = id.key.low
      $0.entity = id.entity
    }
  }

  func value(_ value: Value) -> Graph_Value {
    .with {
      switch value {
      case .null: $0.kind = nil
      case .bool(let value): $0.kind = .bool(value)
      case .integer(let value): $0.kind = .integer(value)
      case .double(let value): $0.kind = .double(value)
      case .decimal(let value): $0.kind = .decimal(data(value.orderedBytes))
      case .string(let value): $0.kind = .string(value)
      case .date(let value): $0.kind = .date(value)
      case .uuid(let value): $0.kind = .uuid(data(value.bytes))
      case .data(let value): $0.kind = .data(data(value))
      case .object(let value): $0.kind = .object(id(value))
      case .objects(let values): $0.kind = .objects(make { $0.ids = values.map(id) })
      }
    }
  }

  func object(_ object: ObjectImage) -> Graph_Object {
    make {
      $0.id = id(object.id)
      $0.revision = object.revision
      $0.values = object.values.map(value)
    }
  }

  func edit(_ edit: Edit) -> Graph_Edit {
    make {
      $0.property = edit.property
      switch edit.action {
      case .set(let new): $0.action = .set(value(new))
      case .splice(let splices): $0.action = .splice(make { $0.splices = splices.map(splice) })
      case .members(let added, let removed):
        $0.action = .members(
          make {
            $0.added = added.map(id)
            $0.removed = removed.map(id)
          })
      case .place(let objects, let anchor):
        $0.action = .place(
          make {
            $0.objects = objects.map(id)
            if let anchor { $0.after = id(anchor) }
          })
      }
    }
  }

  private func splice(_ splice: TextSplice) -> Graph_TextSplice {
    make {
      $0.offset = UInt64(splice.offset)
      $0.length = UInt64(splice.length)
      $0.insertion = splice.insertion
      $0.leftAffinity = splice.hasLeftAffinity
    }
  }

  // MARK: - Transactions

  func transactionID(_ id: TransactionID) -> Graph_TransactionID {
    make {
      $0.replica = data(id.replica.bytes)
      $0.sequence = id.sequence
    }
  }

  func transaction(_ transaction: Transaction) -> Graph_Transaction {
    make {
      $0.id = transactionID(transaction.id)
      $0.policy = policy(transaction.policy)
      if let undo = transaction.undo { $0.undo = undoGroup(undo) }
      $0.changes = transaction.changes.map(change)
    }
  }

  func policy(_ policy: MergePolicy) -> Graph_MergePolicy {
    switch policy {
    case .error: .error
    case .storeTrump: .storeTrump
    case .objectTrump: .objectTrump
    case .overwrite: .overwrite
    case .rollback: .rollback
    }
  }

  func undoGroup(_ undo: UndoGroup) -> Graph_UndoGroup {
    make {
      $0.scope = data(undo.scope.bytes)
      $0.group = undo.group
      $0.name = undo.name
    }
  }

  private func change(_ change: Change) -> Graph_Change {
    make {
      $0.kind =
        switch change.kind {
        case .insert: .insert
        case .update: .update
        case .delete: .delete
        case .revive: .revive
        }
      $0.id = id(change.id)
      $0.base = change.base
      $0.edits = change.edits.map(edit)
      if let onlyIf = change.onlyIf { $0.precondition = precondition(onlyIf) }
    }
  }

  private func precondition(_ precondition: Precondition) -> Graph_Precondition {
    make {
      $0.revision = precondition.revision
      $0.properties = precondition.properties.map { property in make { $0.number = property } }
    }
  }

  func conflict(_ conflict: Conflict) -> Graph_Conflict {
    make {
      $0.kind =
        switch conflict.kind {
        case .changed: .changed
        case .deleted: .deleted
        case .unique: .unique
        }
      $0.id = id(conflict.id)
      $0.property = conflict.property
      $0.mine = value(conflict.mine)
      $0.theirs = value(conflict.theirs)
      $0.author = conflict.author
      $0.revision = conflict.revision
      $0.mineWon = conflict.mineWon
      $0.collateral = conflict.isCollateral
    }
  }

  func violation(_ violation: Violation) -> Graph_Violation {
    make {
      $0.id = id(violation.id)
      $0.property = violation.property
      $0.rule = violation.rule
      $0.value = value(violation.value)
      $0.message = violation.message
      $0.keyParts = violation.others.map { part in
        make {
          $0.property = part.property
          $0.value = value(part.value)
        }
      }
    }
  }

  func committed(_ committed: CommitResult) -> Graph_CommitResult {
    make {
      $0.revision = committed.revision
      $0.fingerprint = committed.fingerprint
      $0.identities = committed.identities.map { identity in
        make {
          $0.temporary = id(identity.temporary)
          $0.permanent = id(identity.permanent)
        }
      }
      $0.conflicts = committed.conflicts.map(conflict)
    }
  }

  func refusal(_ refusal: Refusal) -> Graph_Refusal {
    make {
      $0.code = refusal.code.rawValue
      $0.message = refusal.message
      $0.conflicts = refusal.conflicts.map(conflict)
      $0.violations = refusal.violations.map(violation)
      $0.outcomeUnknown = refusal.isOutcomeUnknown
    }
  }

  func token(_ token: Token) -> Graph_Token {
    make {
      $0.store = data(token.store.bytes)
      $0.revision = token.revision
      $0.fingerprint = token.fingerprint
    }
  }
}
