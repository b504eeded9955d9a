// Tests: SyncRunTests.swift
import GraphModel

/// The events and the actions of a run.
extension SyncRun {
  /// The facts in the server's welcome.
  package struct Server: Sendable {
    package var store: UniqueID
    package var principal: String
    /// The shown name of the principal.
    package var author: String
    /// The highest sequence number that the server knows of the replica.
    package var lastSequence: UInt64
    /// Whether the user sees all objects.
    package var seesAll: Bool

    package init(store: UniqueID, principal: String, author: String, lastSequence: UInt64, seesAll: Bool) {
      (self.store, self.principal, self.author) = (store, principal, author)
      (self.lastSequence, self.seesAll) = (lastSequence, seesAll)
    }
  }

  package enum Event: Sendable {
    /// The action is done, and durable.
    case done
    /// The mirror is open. A partial one has only what the user could see when it was loaded. One of other scopes than
    /// the user has chosen is replaced at the end.
    case opened(isPartial: Bool, hasOtherScopes: Bool = false)
    /// There is no mirror of this version of the model. One of another version has been in these states, oldest first.
    case noMirror(states: [Token], isOfOtherModel: Bool = false)
    /// A new mirror has the server's state of this revision.
    /// In a comparison with an earlier one, so many intents were parked.
    case loaded(Revision, parked: Int = 0)
    /// No new mirror can be made, for a reason that another attempt would meet, too. An earlier one is still there.
    case notLoaded
    /// The mirror has this number of further commits, and with them the server's state of the revision.
    case received(Revision, commits: Int)
    /// The server's commits do not lead from the mirror's state to the present one.
    case outdated
    /// The states of the server that the mirror has been in, oldest first.
    case states([Token])
    /// Whether the server has the state.
    case isKnown(Bool)
    /// The server's history no longer reaches back to the state, so it is unknown whether the server has had it.
    case isPruned
    /// The queue refers to no state that the server has lost.
    case rebased(parked: Int)
    /// The next waiting intents, at most `page`.
    case queue([UnsentFile.Entry])
    /// The file has these intents as sent. The user has discarded the others that were to be marked.
    case marked([Intent])
    /// The outcome of a transaction that was sent.
    case answered(TransactionID, Result<CommitResult, Refusal>)
    /// The file no longer has the intents, or has the rest of some as parked.
    case finished(parked: Int)
    /// The replica is connected under its new id.
    case renewed(Server)
  }

  package enum Action: Sendable {
    /// Replace the state of the replica; answered by `.done`.
    case setState(SyncState)
    /// Answered by `.opened` or `.noMirror`.
    case openMirror
    /// Read the states that the mirror has been in; answered by `.states`.
    case readStates
    /// Ask whether the server has a state; answered by `.isKnown`.
    case ask(Token)
    /// Make durable that no intent refers to a state after this revision, which the server has lost; answered by
    /// `.rebased`. Without a revision no state is known that the server still has. When a new mirror is loaded, the
    /// texts of the lost states are gone.
    case rebase(onto: Revision?, isLoaded: Bool)
    /// Load a mirror of what the user sees, and use it in place of an earlier one; answered by `.loaded` or
    /// `.notLoaded`. If `isUnverified`, the objects are compared with those of the earlier one first (`LostObjects`).
    case load
    /// Receive the commits since the mirror's state; answered by `.received` or `.outdated`.
    case receive
    /// Read the next intents that wait, behind a number; answered by `.queue`.
    case readQueue(after: Int64)
    /// Make durable that these intents are sent; answered by `.marked`.
    case markLeft([Int64])
    /// Send an intent; answered by `.done`, and its outcome later by `.answered`. An intent that can't be sent is
    /// answered by `.answered` at once.
    case send(Intent)
    /// Wait for the next outcome.
    case awaitAnswer
    /// Make durable that the intent, and those that name its objects, wait for the user; answered by `.done`.
    case park(Int64, Refusal, left: Timestamp?)
    /// The same for one that has no meaning in this version of the model.
    case parkUnreadable(Int64, Refusal)
    /// Remove committed intents, in one step; answered by `.finished`.
    case finish([FinishedIntent])
    /// Remove committed intents, in one step, without a mirror that has their commits; answered by `.finished`.
    case release([FinishedIntent])
    /// Give the replica a new id, and connect under it; answered by `.renewed`.
    case renew
    /// The run is complete.
    case end(SyncReport)
    /// The run ends without a new mirror.
    case endUnloaded(SyncReport, Waiting)
    /// The run ends here. The next one sends the intents without an answer again.
    case fail(Refusal)
  }

  /// An intent whose commit the mirror has.
  package struct FinishedIntent: Sendable {
    package let committed: CommittedIntent
    /// The intent with permanent ids.
    package let intent: Intent?
  }

  /// The intents that wait for a new mirror after a run without one.
  package enum Waiting: Sendable, Equatable {
    case none
    /// Those from this number on: its splices refer to a text that an earlier intent has changed, as a mirror has it.
    case behindText(Int64)
    /// All: the earlier mirror does not follow the server's commits.
    case earlierCopy
    /// All: the server was restored from a backup, and the earlier mirror is one of the lost past.
    case restored
    /// All that have not left: the files are a copy of those of another replica.
    case copied
  }
}
