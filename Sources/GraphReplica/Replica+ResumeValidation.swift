// Tests: RestoredStoreTests.swift
import GraphModel
import GraphWire

/// Resume validation: whether the store still has the state that the client holds. The store may be another one, or
/// may have been restored to an earlier state.
extension Replica {
  /// Asks the store for the changes after the newest state, unless the subscription of a query names it. The store
  /// refuses if it does not know that state.
  mutating func beginResumeValidation(_ head: Token, _ actions: inout [ReplicaAction]) {
    resume.connect(head: head)
    // Every store knows the state of revision 0.
    guard let token = resume.newest.unconfirmedToken, token.revision > 0 else { return }
    if let named = newestOfQueries, named.revision >= token.revision { return }
    requestConfirmation(of: token, &actions)
  }

  private mutating func requestConfirmation(of token: Token, _ actions: inout [ReplicaAction]) {
    subscriptions.addConfirmation()
    send(.changes(.follow(FollowRequest(since: token, limit: 1))), for: .confirmation(token.revision), &actions)
  }

  /// Handles the answer to whether the store knows the newest state.
  mutating func receiveConfirmation(of revision: Revision, isKnown: Bool, _ actions: inout [ReplicaAction]) {
    resume.record(revision, isKnown: isKnown)
    finishSubscribing(mayPublish: true, &actions)
  }

  /// Decides whether the held state is valid, once the store has answered for every state in question.
  mutating func finishResumeValidation(_ actions: inout [ReplicaAction]) {
    assert(subscriptions.areAnswered, "the store has answered before the held state is judged")
    if resume.isDenied { return diverge(&actions) }
    if let token = resume.openToken {
      // The query that would have confirmed the state was refused, or is no longer followed.
      requestConfirmation(of: token, &actions)
      if !subscriptions.areAnswered { return }
    }
    resume.confirm()
  }

  /// Handles a store that is not the one of this side's newest state, or was restored to an earlier one. Held objects
  /// can't be distinguished from objects of states that the store never reached, so queries that resumed from a known
  /// state are reloaded as well.
  private mutating func diverge(_ actions: inout [ReplicaAction]) {
    resume.discardUnconfirmed()
    publishedRevision = 0
    if case .resuming(var catchUp) = state {
      catchUp.hasDiverged = true
      state = .resuming(catchUp)
    }
    for index in pending.indices { pending[index].isOutdated = true }
    actions.append(.diverged)
    for query in queries.keys.sorted() { reloadAfterDivergence(query, &actions) }
  }

  private mutating func reloadAfterDivergence(_ query: QueryID, _ actions: inout [ReplicaAction]) {
    let (number, isLoaded) = queries.modify(query) { followed in
      let before = (followed.subscription?.number, followed.isLoaded)
      followed.invalidateHeldResult()
      return before
    }
    // A query that is not subscribed to, or whose new result is on its way, is reloaded anyway.
    guard let number, isLoaded else { return }
    numbers[number] = nil
    dropMove(of: query)
    // Answers under the old request, such as a reset, do not concern the new subscription.
    openRequests.removeAll(about: query)
    staged.removeAll { $0.query == number }
    queries.modify(query) { $0.endSubscription() }
    send(.unsubscribe(query: number), for: .unanswered, &actions)
    subscribe(query, &actions)
  }
}
