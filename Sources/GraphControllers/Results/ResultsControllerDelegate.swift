import GraphModel

/// Follows a results controller. Each commit that changes the result is bracketed: will change; sections; objects; did
/// change. In the first call the controller still has the result as it was, in all others it has it as it is.
///
/// Every method may be left out: one that redraws its list needs `resultsDidChange` only.
public protocol ResultsControllerDelegate: AnyObject {
  /// A commit is about to be told; the controller's snapshot is the one before it.
  func resultsWillChange(_ controller: ResultsController)
  /// A section came or went.
  func results(_ controller: ResultsController, didChange section: ResultsSectionChange)
  /// An object came, went, moved or changed.
  func results(_ controller: ResultsController, didChange object: ResultsObjectChange)
  /// All of a commit has been told. The first result is told as well, even if it is empty.
  func resultsDidChange(_ controller: ResultsController, by difference: ResultsDifference)
  /// There is no result, or no more; the rows stay as they were. `performFetch` tries again.
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
  /// Does nothing: the failure is the controller's state.
  public func results(_ controller: ResultsController, didFail refusal: Refusal) {}
}
