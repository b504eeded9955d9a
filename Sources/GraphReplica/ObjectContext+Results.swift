import GraphModel

/// Access for lists that follow a live query. After each commit they read only the objects that it touched.
extension ObjectContext {
  /// An object of a live query as the server has it; nil if it is not in the result.
  public func storedImage(_ id: ObjectID, in query: QueryID) -> ObjectImage? {
    if let parent { return parent.storedImage(id, in: query) }
    return results[query]?[id]?.stored
  }

  /// Whether the first result of a live query has arrived. A query that is reloading after a reset counts as not
  /// loaded.
  public func isLoaded(_ query: QueryID) -> Bool {
    parent?.isLoaded(query) ?? (replica.queries[query]?.isLoaded ?? false)
  }

  /// The held objects as the server has them, for the paths of a sort order.
  public var storedObjects: any ImageSource { parent?.storedObjects ?? StoredImages(context: self) }
}
