import GraphModel

/// How something fails that has to do with files; nil when it does not.
func failure(_ body: () throws -> Void) -> StoreFailure? {
  do {
    try body()
    return nil
  } catch {
    return error as? StoreFailure
  }
}
