import GraphModel

/// What a list that follows a live query asks for after each commit: not the whole result, only the objects that the
/// commit touched.
extension ObjectContext {
  /// An object of a live query as the server has it; nil for one that is not in its result.
  public func storedImage(_ id: ObjectID, in query: QueryID) -> ObjectImage? {
    if let parent { return parent.storedImage(id, in: query) }
    return results[query]?[id]?.stored
  }

  /// Whether the first result of a live query has come. One that is loaded anew after a reset counts as not loaded.
  public func isLoaded(_ query: QueryID) -> Bool {
    parent?.isLoaded(query) ?? (replica.queries[query]?.isLoaded ?? false)
  }

  /// The objects that the context holds, as the server has them: what paths of an order lead to.
  public var storedObjects: any ImageSource { parent?.storedObjects ?? HeldObjects(context: self) }
}
