import GraphModel

/// Returns the store failure that `body` throws; nil if it throws nothing, or another error.
public func failure(_ body: () throws -> Void) -> StoreFailure? {
  do {
    try body()
    return nil
  } catch {
    return error as? StoreFailure
  }
}
