// Tests: VisibilityHubTests.swift

extension StoreFailure {
  /// The refusal of a request that failed because of an error.
  package static func refusal(of error: any Error) -> Refusal {
    switch error {
    case let known as Refusal: return known
    case let failure as StoreFailure: return failure.refusal
    default:
      var refusal = Refusal(.unavailable, "\(error)")
      refusal.messageWithoutPaths = textWithoutPaths
      return refusal
    }
  }
}
