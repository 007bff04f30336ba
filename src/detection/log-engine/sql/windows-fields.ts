/**
 * Where shippers put a field of a Windows event besides its own name: the name that another event has for it, and its ECS name. Names are
 * those of Sysmon. Sources: Sysmon manual, Windows security auditing reference, Elastic Common Schema and Winlogbeat's modules.
 */
export const windowsFields: Record<string, { names?: readonly string[]; ecs?: readonly string[] }> = {
  EventID: { names: ['EventId', 'EventCode'], ecs: ['winlog.event_id', 'event.code', 'Event.System.EventID.#text'] },
  Channel: { ecs: ['winlog.channel'] },
  Computer: {
    names: ['Hostname', 'ComputerName', 'MachineName'],
    ecs: ['winlog.computer_name', 'host.hostname', 'host.name'],
  },
  Provider: {
    names: ['SourceName', 'ProviderName', 'Provider_Name'],
    ecs: ['winlog.provider_name', 'event.provider', 'Event.System.Provider.#attributes.Name'],
  },
  User: { names: ['SubjectUserName'], ecs: ['user.name'] },
  TargetUserName: { ecs: ['user.target.name'] },
  Image: { names: ['NewProcessName', 'ProcessName'], ecs: ['process.executable'] },
  CommandLine: { names: ['ProcessCommandLine'], ecs: ['process.command_line'] },
  ParentImage: { names: ['ParentProcessName'], ecs: ['process.parent.executable'] },
  ParentCommandLine: { ecs: ['process.parent.command_line'] },
  OriginalFileName: { ecs: ['process.pe.original_file_name'] },
  TargetFilename: { ecs: ['file.path'] },
  TargetObject: { ecs: ['registry.path'] },
  Details: { names: ['NewValue'], ecs: ['registry.data.strings', 'winlog.event_data.Details'] },
  ScriptBlockText: { names: ['Payload'], ecs: ['powershell.file.script_block_text'] },
  ImageLoaded: { ecs: ['dll.path', 'file.path'] },
  QueryName: { ecs: ['dns.question.name'] },
  SourceIp: { names: ['IpAddress', 'SourceAddress'], ecs: ['source.ip'] },
  DestinationIp: { names: ['DestAddress'], ecs: ['destination.ip'] },
  DestinationPort: { names: ['DestPort'], ecs: ['destination.port'] },
  DestinationHostname: { ecs: ['destination.domain'] },
};

/** The objects that contain the fields of an event: none for flat events, Winlogbeat's, and those of EVTX files as JSON. */
export const windowsContainers = [
  '',
  'winlog.event_data.',
  'Event.EventData.',
  'Event.System.',
  'EventData.',
  'System.',
];

/** Returns the dotted paths that can contain a field of a Windows event, most likely first. */
export function listWindowsPaths(field: string): string[] {
  const { names = [], ecs = [] } = windowsFields[field] ?? {};
  const [flat, winlogbeat, ...evtx] = windowsContainers.map((container) =>
    [field, ...names].map((name) => container + name),
  );
  return [...flat!, ...winlogbeat!, ...ecs, ...evtx.flat()];
}
