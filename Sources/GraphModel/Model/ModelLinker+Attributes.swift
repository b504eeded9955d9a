/// What an attribute may say beside its type: patterns.
extension ModelLinker {
  mutating func checkPattern(of attribute: ModelDraft.Attribute) {
    guard let pattern = attribute.pattern else { return }
    let path = attribute.path + ".pattern"
    guard [.string, .text, .uri].contains(attribute.kind) else {
      return report(path, "does not go with the type \(attribute.kind.rawValue)")
    }
    guard expressions[pattern] == nil else { return }
    do {
      expressions[pattern] = try RegularExpression(parsing: pattern)
    } catch {
      report(path, "column \(error.column): \(error.reason)")
    }
  }
}
