// A program for notes needs only this import, which exports only the names that such a program uses. A program that
// uses predicates as texts, values of any type, or messages of the wire imports GraphModel and GraphWire itself.
// docs/api.txt lists all exported names.

@_exported import enum GraphClient.GraphError
@_exported import class GraphClient.BackgroundContext
@_exported import class GraphClient.GraphClient
@_exported import protocol GraphClient.GraphReader
@_exported import struct GraphClient.ConnectFailure
@_exported import enum GraphClient.Credentials
@_exported import typealias GraphClient.LiveDifference
@_exported import class GraphClient.LiveQueryHandle
@_exported import class GraphClient.LiveResults
@_exported import struct GraphClient.LiveSection
@_exported import struct GraphClient.LiveSequence
@_exported import struct GraphClient.LiveSnapshot
@_exported import struct GraphClient.Page
@_exported import class GraphClient.PageSequence
@_exported import class GraphClient.PastGraph
@_exported import struct GraphClient.Presence
@_exported import struct GraphClient.SecurityFailure
@_exported import struct GraphClient.TransportSecurity
@_exported import class GraphClient.UndoStack
@_exported import struct GraphControllers.ResultsDifference
@_exported import enum GraphControllers.ResultsObjectChange
@_exported import struct GraphControllers.ResultsPosition
@_exported import enum GraphControllers.ResultsSectionChange
@_exported import enum GraphModel.MergePolicy
@_exported import struct GraphModel.ObjectID
@_exported import struct GraphModel.Refusal
@_exported import typealias GraphModel.Revision
@_exported import struct GraphModel.Token
@_exported import struct GraphModel.UniqueID
// The operators of typed predicates are found only if their module is imported as a whole.
@_exported import GraphReplica
@_exported import enum GraphWire.ServerAddress
@_exported import class StickiesModel.Board
@_exported import class StickiesModel.Note
@_exported import enum StickiesModel.Stickies
@_exported import enum StickiesModel.StickiesModel
@_exported import class StickiesModel.Tag
import StickiesModel

/// The palette of boards and notes. It is called `Color` in the model, a name that front ends also have.
public typealias NoteColor = Color

/// An arrow from one note to another. It is called `Link` in the model.
public typealias NoteLink = Link
