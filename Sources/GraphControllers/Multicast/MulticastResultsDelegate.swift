import GraphModel

/// A multicast delegate of one results controller.
public final class MulticastResultsDelegate: MulticastDelegate<any ResultsControllerDelegate> {}

extension MulticastResultsDelegate: ResultsControllerDelegate {
  public func resultsWillChange(_ controller: ResultsController) { notify { $0.resultsWillChange(controller) } }

  public func results(_ controller: ResultsController, didChange section: ResultsSectionChange) {
    notify { $0.results(controller, didChange: section) }
  }

  public func results(_ controller: ResultsController, didChange object: ResultsObjectChange) {
    notify { $0.results(controller, didChange: object) }
  }

  public func resultsDidChange(_ controller: ResultsController, by difference: ResultsDifference) {
    notify { $0.resultsDidChange(controller, by: difference) }
  }

  public func results(_ controller: ResultsController, didFail refusal: Refusal) {
    notify { $0.results(controller, didFail: refusal) }
  }
}
