import GraphModel
import GraphStore
import GraphTesting
import Testing

@testable import GraphSimulation

/// The checks of commits in runs with accounts.
@Suite struct AccessPromisesTests {
  /// The store restores without the rights of the user, which are the planted bug.
  @Test(arguments: [true, false]) func restoreOfStateThatTheUserCouldNotSeeIsDetected(couldSee: Bool) throws {
    let model = try AccessModel(seed: 1)
    let store = try TestStore(model.model)
    var recorder = GraphRecorder(model: model.model)
    var promises = AccessPromises(model: model)
    let folders = [try store.insert("Folder"), try store.insert("Folder")]
    let item = try store.insert("Item", ["folder": .object(folders[1]), "text": .string("salaries")])
    let past = try store.store.head.revision
    try store.must([try store.update(item, "Item.text", .string("lunch"))])
    try store.must([try store.update(item, "Item.folder", .object(folders[0]))])
    // The restore can't move the item back, so that its text alone decides.
    try store.must([Change(.delete, folders[1], base: .max)])
    _ = try recorder.catchUp(with: store.store)
    let places = couldSee ? folders : [folders[0]]
    let rights = Rights(user: "ann", grants: places.map { Grant(.editor, on: $0.key) })
    let access = NaiveAccess(
      user: "ann", grants: Dictionary(uniqueKeysWithValues: places.map { (Optional($0.key), Role.editor) }))
    promises.register(access, for: rights)
    let request = RestoreRequest(store.nextID(), .object(item), at: past)
    promises.record(.restore(request, author: "ann", rights: rights))
    let result = try store.store.commit([.restore(request, author: "ann", rights: nil)], now: store.now)[0]
    try store.taken(result)
    #expect(try store.value(item, "Item.text") == .string("salaries"))
    let record = try #require(try recorder.catchUp(with: store.store).first)
    let failure = promises.record(record, recorder)
    #expect(failure?.contains("could not see the restored text") == (couldSee ? nil : true))
  }
}
