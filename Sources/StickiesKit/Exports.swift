// Programs for sticky notes need only one import.
@_exported import GraphClient
@_exported import StickiesModel
