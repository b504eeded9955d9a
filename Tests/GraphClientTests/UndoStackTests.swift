import GraphClient
import GraphModel
import GraphReplica
import GraphTesting
import GraphWire
import Testing

/// Undo steps of a client, and the observable state of a menu's items.
@MainActor
@Suite(.timeLimit(.minutes(1))) struct UndoStackTests {
  @Test func savesOfABodyAreOneStep() async throws {
    try await ServedGraph.serve { graph in
      let client = try await graph.connect()
      #expect(!client.canUndo && !client.canRedo)
      let result = try await client.undoable("Plan") {
        _ = graph.insert("one", into: client)
        try await client.save()
        _ = graph.insert("two", into: client)
        return 7
      }
      #expect(result == 7 && !client.context.hasChanges && client.context.undoScope == nil)
      #expect(try await client.titles == ["one", "two"])
      await wait { client.undoStack.state.undo?.count == 2 }
      #expect(client.canUndo && !client.canRedo && client.undoName == "Plan")

      _ = try await client.undo()
      #expect(try await client.titles == [])
      // The names are observed.
      await wait { client.redoName == "Plan" }
      #expect(!client.canUndo && client.canRedo && client.undoName == "")

      _ = try await client.redo()
      #expect(try await client.titles == ["one", "two"])
      await wait { client.undoName == "Plan" }
      #expect(client.canUndo && !client.canRedo && client.redoName == "")
      await client.close()
    }
  }

  @Test func stackShowsTheStateThatTheProgramHasAskedFor() async throws {
    try await ServedGraph.serve { graph in
      let client = try await graph.connect()
      #expect(!client.canUndo)
      try await client.undoable("Plan") { _ = graph.insert("one", into: client) }
      #expect(try await client.undoState().undo?.name == "Plan")
      #expect(client.canUndo && !client.canRedo && client.undoStack.undoName == "Plan")
      try await client.undo()
      #expect(try await client.undoState().redo?.name == "Plan")
      #expect(!client.canUndo && client.canRedo)
      await client.close()
    }
  }

  @Test func stepsAndSingleSavesAreUndoneInTheirOrder() async throws {
    try await ServedGraph.serve { graph in
      let client = try await graph.connect()
      _ = graph.insert("one", into: client)
      try await client.save()
      try await client.undoable("Outer") {
        try await client.undoable("Inner") { _ = graph.insert("two", into: client) }
        _ = graph.insert("three", into: client)
      }
      _ = graph.insert("four", into: client)
      try await client.save()
      _ = try await client.undo()
      #expect(try await client.titles == ["one", "three", "two"])
      #expect(try await client.undoState().undo?.name == "Outer")
      _ = try await client.undo()
      #expect(try await client.titles == ["one"])
      _ = try await client.undo()
      #expect(try await client.titles == [])
      await client.close()
    }
  }

  /// A button that is pressed twice: both tasks wait in their bodies, and the first ends first.
  @Test func overlappingStepsAreOne() async throws {
    try await ServedGraph.serve { graph in
      let client = try await graph.connect()
      let gates = (0..<2).map { _ in AsyncStream.makeStream(of: Void.self) }
      let (begun, begin) = AsyncStream.makeStream(of: Void.self)
      let presses = gates.indices.map { number in
        Task {
          try await client.undoable("Press") {
            _ = graph.insert("\(number)", into: client)
            begin.yield()
            for await _ in gates[number].stream {}
          }
        }
      }
      var begins = begun.makeAsyncIterator()
      for _ in presses { await begins.next() }
      for (gate, press) in zip(gates, presses) {
        #expect(client.context.undoScope != nil)
        gate.continuation.finish()
        try await press.value
      }
      #expect(client.context.undoScope == nil)
      try await client.undo()
      #expect(try await client.titles == [])
      #expect(try await client.undoState().undo == nil)
      await client.close()
    }
  }

  @Test func undoRevertsTheStackOfTheContext() async throws {
    try await ServedGraph.serve { graph in
      let (window, other) = (try await graph.connect(), try await graph.connect())
      window.context.undoScope = window.undoScope()
      other.context.undoScope = other.undoScope()
      try await window.undoable("Here") { _ = graph.insert("one", into: window) }
      try await other.undoable("There") { _ = graph.insert("two", into: other) }
      await wait { window.canUndo && other.canUndo }
      #expect(window.undoStack.undoName == "Here" && other.undoStack.undoName == "There")
      _ = try await window.undo()
      #expect(try await other.titles == ["two"])
      await wait { window.canRedo }
      #expect(!window.canUndo && other.canUndo)
      await other.close()
      await window.close()
    }
  }

  @Test func changeOfScopeRefreshesTheStack() async throws {
    try await ServedGraph.serve { graph in
      let client = try await graph.connect()
      try await client.undoable("Default") { _ = graph.insert("one", into: client) }
      await wait { client.undoName == "Default" }
      let (first, second) = (client.undoScope(), client.undoScope())
      client.context.undoScope = first
      await wait { !client.canUndo }
      try await client.undoable("First") { _ = graph.insert("two", into: client) }
      await wait { client.undoName == "First" }
      client.context.undoScope = second
      await wait { !client.canUndo && !client.canRedo }
      client.context.undoScope = first
      await wait { client.undoName == "First" }
      // Without a scope, all stacks of the author count as one.
      try await client.undo()
      await wait { client.canRedo && !client.canUndo }
      client.context.undoScope = nil
      await wait { client.undoName == "Default" }
      await client.close()
    }
  }

  /// The scope that `undoable` sets while its body runs is not one of the program.
  @Test func bodyOfAStepSeesTheStepsOfAllStacks() async throws {
    try await ServedGraph.serve { graph in
      let client = try await graph.connect()
      client.context.undoScope = client.undoScope()
      try await client.undoable("Window") { _ = graph.insert("one", into: client) }
      client.context.undoScope = nil
      await wait { client.undoName == "Window" }
      try await client.undoable("Default") {
        let step = try await client.undoState().undo
        #expect(step?.name == "Window")
        #expect(client.undoName == "Window")
        _ = graph.insert("two", into: client)
      }
      await wait { client.undoName == "Default" }
      await client.close()
    }
  }

  @Test func bodyThatThrowsLeavesItsEditsUnsaved() async throws {
    struct Stop: Error {}
    try await ServedGraph.serve { graph in
      let client = try await graph.connect()
      await #expect(throws: Stop.self) {
        try await client.undoable("Plan") {
          _ = graph.insert("one", into: client)
          throw Stop()
        }
      }
      #expect(client.context.hasChanges && client.context.undoScope == nil)
      // The group is closed: the save is a step without a name.
      try await client.save()
      #expect(try await client.undoState().undo?.name == "")
      await client.close()
    }
  }

  @Test func commitsBesideTheContextAreCounted() async throws {
    try await ServedGraph.serve { graph in
      let client = try await graph.connect()
      #expect(!client.canUndo)
      _ = try await client.batchInsert(
        graph.project, [graph.title, graph.year], rows: [[.string("one"), .integer(2026)]])
      await wait { client.canUndo }
      _ = try await client.undo()
      await wait { client.canRedo }
      #expect(!client.canUndo)
      await client.close()
    }
  }
}
