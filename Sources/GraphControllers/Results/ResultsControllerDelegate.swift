import GraphModel

/// Receives the changes of a results controller. For each commit that changes the result the calls are: will change,
/// sections, objects, did change. In the first call the controller still has the old result, in all others the new
/// one.
///
/// Every method is optional: a delegate that redraws its list needs only `resultsDidChange`.
public protocol ResultsControllerDelegate: AnyObject {
  /// Called before a commit is delivered; the controller still has the old snapshot.
  func resultsWillChange(_ controller: ResultsController)
  /// Called for each section that was inserted or removed.
  func results(_ controller: ResultsController, didChange section: ResultsSectionChange)
  /// Called for each object that was inserted, removed, moved or updated.
  func results(_ controller: ResultsController, didChange object: ResultsObjectChange)
  /// Called after all changes of a commit, and for the first result even if it is empty.
  func resultsDidChange(_ controller: ResultsController, by difference: ResultsDifference)
  /// Called when the query fails, at once or later; the rows stay. `performFetch` tries again.
  func results(_ controller: ResultsController, didFail refusal: Refusal)
}

extension ResultsControllerDelegate {
  /// Does nothing.
  public func resultsWillChange(_ controller: ResultsController) {}
  /// Does nothing.
  public func results(_ controller: ResultsController, didChange section: ResultsSectionChange) {}
  /// Does nothing.
  public func results(_ controller: ResultsController, didChange object: ResultsObjectChange) {}
  /// Does nothing.
  public func resultsDidChange(_ controller: ResultsController, by difference: ResultsDifference) {}
  /// Does nothing: the controller's `state` contains the failure.
  public func results(_ controller: ResultsController, didFail refusal: Refusal) {}
}
