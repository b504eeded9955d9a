import GraphModel

extension StickiesModel {
  /// All versions of the notes' model, oldest first; the last one is ``model``.
  package static let versions: [GraphModel.Model] =
    earlierSources.map { source in
      do { return try GraphModel.Model(parsing: source.utf8) } catch { preconditionFailure("\(error)") }
    } + [model]
}
