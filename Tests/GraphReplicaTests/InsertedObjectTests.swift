import GraphModel
import GraphReplica
import GraphTesting
import Testing

/// Objects that a program makes with their classes: `Note(in: context)`.
@Suite struct InsertedObjectTests {
  private final class Note: ManagedObject {
    override class var entityName: String { "Note" }
  }

  private final class OtherNote: ManagedObject {
    override class var entityName: String { "Note" }
  }

  private final class Stranger: ManagedObject {
    override class var entityName: String { "Stranger" }
  }

  private final class Grown: ManagedObject {
    override class var entityName: String { "Grown" }
  }

  private static func context(_ model: Model, _ classes: [ManagedObject.Type]) -> ObjectContext {
    ObjectContext(
      model: model, replica: Replica(id: UniqueID(high: 1, low: 1), author: "ann", model: model.hash), classes: classes)
  }

  @Test func newObjectIsTheContextsInstance() throws {
    let model = try Fixtures.stickies()
    let context = Self.context(model, [Note.self])
    let (one, two) = (Note(in: context), Note(in: context))
    #expect(one.entity.name == "Note" && one.isInserted && !one.isFault && one.id.isTemporary)
    #expect(one.id != two.id)
    #expect(context.object(one.id) === one)
    #expect(context.insertedObjects.map { $0 === one } == [true, false])
    one["text"] = .string("Buy milk")
    #expect(one["text"] == .string("Buy milk") && two["text"] == .string(""))
    #expect(context.save() != nil && !context.hasChanges)
  }

  @Test func newObjectOfAChildReachesItsParentOnSave() throws {
    let context = Self.context(try Fixtures.stickies(), [Note.self])
    let child = context.makeChild()
    let note = Note(in: child)
    note["text"] = .string("Draft")
    #expect(context.insertedObjects.isEmpty)
    child.save()
    #expect(context.insertedObjects.map { $0["text"] } == [.string("Draft")])
    #expect(context.insertedObjects.first is Note)
  }

  @Test func contextOfThePastRefusesNewObject() throws {
    let past = Self.context(try Fixtures.stickies(), [Note.self]).makePast(at: 5)
    var refused = [String]()
    past.editWasRefused = { refused.append($0.what) }
    let note = Note(in: past)
    note["text"] = .string("Too late")
    #expect(refused == ["no Note can be created"])
    #expect(note.isDeleted && !note.isInserted && past.object(note.id) == nil)
    #expect(note["text"] == .string(""))
  }

  /// The standard error of a process that ended.
  private static func message(_ result: ExitTest.Result?) -> String {
    String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
  }

  @Test func classOfAnotherModelTraps() async {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      _ = Stranger(in: Self.context(try Fixtures.stickies(), [Note.self]))
    }
    #expect(Self.message(result).contains("has no entity \"Stranger\""))
  }

  @Test func classThatTheContextWasNotMadeWithTraps() async {
    let other = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      _ = OtherNote(in: Self.context(try Fixtures.stickies(), [Note.self]))
    }
    #expect(Self.message(other).contains("it is not the context's class of Note"))
    let none = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      _ = Note(in: Self.context(try Fixtures.stickies(), []))
    }
    #expect(Self.message(none).contains("it is not the context's class of Note"))
  }

  @Test func abstractEntityTraps() async {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      let source = """
        {"format": 1, "name": "Garden", "version": 1, "entities": [
          {"name": "Grown", "abstract": true, "attributes": [{"name": "name", "type": "string", "default": ""}]},
          {"name": "Tree", "parent": "Grown"}]}
        """
      _ = Grown(in: Self.context(try Model(parsing: source.utf8), [Grown.self]))
    }
    #expect(Self.message(result).contains("its entity is abstract"))
  }
}
