/** A dataset of the organization's log store, with its columns; those inside objects by dotted names. */
export type Dataset = { name: string; columns: readonly { name: string }[] };

/**
 * The kinds of logs that a template can read: for each part of an event the columns that may hold it (ECS, Sysmon, Windows,
 * CloudTrail and plain names). `main` is what makes a dataset one of the kind; the entity is the first part of `entities` that it has.
 */
export const logKinds = {
  process: {
    main: 'command',
    entities: ['host', 'user', 'command'],
    parts: {
      command: ['process.command_line', 'CommandLine', 'ProcessCommandLine', 'command_line', 'cmdline'],
      parent: ['process.parent.executable', 'ParentImage', 'ParentProcessName', 'process.parent.name'],
      host: ['host.name', 'Hostname', 'Computer', 'DeviceName', 'hostname', 'host'],
      user: ['user.name', 'User', 'SubjectUserName', 'AccountName', 'username', 'user'],
    },
  },
  cloudtrail: {
    main: 'action',
    entities: ['principal', 'user', 'source_ip', 'action'],
    parts: {
      action: ['eventName'],
      service: ['eventSource'],
      principal: ['userIdentity.sessionContext.sessionIssuer.arn', 'userIdentity.arn'],
      user: ['userIdentity.userName'],
      source_ip: ['sourceIPAddress'],
      error: ['errorCode'],
      request: ['requestParameters'],
    },
  },
  signIn: {
    main: 'outcome',
    entities: ['user', 'source_ip'],
    parts: {
      outcome: ['event.outcome', 'outcome', 'result', 'status'],
      user: ['user.name', 'TargetUserName', 'username', 'user'],
      source_ip: ['source.ip', 'IpAddress', 'src_ip', 'source_ip'],
      action: ['event.action', 'action', 'eventType'],
    },
  },
  web: {
    main: 'domain',
    entities: ['user', 'client', 'domain'],
    parts: {
      domain: ['url.domain', 'destination.domain', 'dest_domain', 'domain'],
      user: ['user.name', 'username', 'user'],
      client: ['source.ip', 'src_ip', 'client_ip', 'host.name'],
      sent: ['http.request.bytes', 'source.bytes', 'bytes_sent', 'bytes_out'],
    },
  },
  webServer: {
    main: 'path',
    entities: ['client', 'path'],
    parts: {
      path: ['url.path', 'url.original', 'request_uri', 'uri', 'path'],
      client: ['source.ip', 'client.ip', 'client_ip', 'remote_addr', 'src_ip'],
    },
  },
  dns: {
    main: 'query',
    entities: ['client', 'host', 'query'],
    parts: {
      query: ['dns.question.name', 'QueryName', 'query_name', 'qname'],
      client: ['source.ip', 'src_ip', 'client_ip'],
      host: ['host.name', 'Hostname', 'Computer'],
    },
  },
  network: {
    main: 'port',
    entities: ['client', 'host'],
    parts: {
      port: ['destination.port', 'DestinationPort', 'dest_port', 'dst_port', 'dstport'],
      target: ['destination.ip', 'DestinationIp', 'dest_ip', 'dst_ip', 'dstaddr'],
      client: ['source.ip', 'SourceIp', 'src_ip', 'srcaddr'],
      host: ['host.name', 'Hostname', 'Computer'],
    },
  },
  registry: {
    main: 'key',
    entities: ['host', 'user', 'key'],
    parts: {
      key: ['registry.path', 'TargetObject', 'RegistryKey'],
      value: ['registry.data.strings', 'Details', 'RegistryValueData'],
      host: ['host.name', 'Hostname', 'Computer', 'DeviceName'],
      user: ['user.name', 'User', 'AccountName'],
    },
  },
  file: {
    main: 'path',
    entities: ['host', 'user', 'path'],
    parts: {
      path: ['file.path', 'TargetFilename', 'file_path', 'FolderPath'],
      host: ['host.name', 'Hostname', 'Computer', 'DeviceName'],
      user: ['user.name', 'User', 'AccountName'],
    },
  },
  windows: {
    main: 'event_id',
    entities: ['host', 'user'],
    parts: {
      event_id: ['winlog.event_id', 'event.code', 'EventID', 'EventId'],
      host: ['host.name', 'Hostname', 'Computer', 'winlog.computer_name'],
      user: ['user.name', 'SubjectUserName', 'winlog.event_data.SubjectUserName'],
      target: ['winlog.event_data.TargetUserName', 'TargetUserName', 'ServiceName', 'TaskName'],
    },
  },
} as const satisfies Record<
  string,
  { main: string; entities: readonly string[]; parts: Record<string, readonly string[]> }
>;

export type LogKind = keyof typeof logKinds;

/** What a dataset has of a kind of logs: part to columns, the likeliest first, and the part that names the entity. */
export type Shape = { dataset: string; kind: LogKind; entity: string; columns: Record<string, readonly string[]> };

/** The dataset as logs of a kind; undefined where it lacks what makes it one, or an entity. */
export function shapeOf(dataset: Dataset, kind: LogKind): Shape | undefined {
  const { main, entities, parts } = logKinds[kind];
  const names = new Set(dataset.columns.map(({ name }) => name));
  const columns = Object.fromEntries(
    Object.entries<readonly string[]>(parts)
      .map(([part, candidates]) => [part, candidates.filter((name) => names.has(name))] as const)
      .filter(([, found]) => found.length > 0),
  );
  const entity = entities.find((part) => part in columns);
  return main in columns && entity !== undefined ? { dataset: dataset.name, kind, entity, columns } : undefined;
}

/** A part of an event as SQL text. */
export function partSql({ columns }: Shape, part: string): string {
  const found = (columns[part] ?? []).map(columnSql);
  return found.length === 1 ? found[0]! : `coalesce(${found.join(', ')})`;
}

/** One column as text, read from the event: so one that no event of a window, or of a test, has is null and no error. */
export const columnSql = (column: string): string => `(_event->>'$.${column}')`;

export const sqlText = (value: string): string => `'${value.replaceAll("'", "''")}'`;

/** An event of this shape that holds the given parts, each in the column where the dataset is likeliest to have it. */
export function eventOf({ columns }: Pick<Shape, 'columns'>, parts: Record<string, unknown>): Record<string, unknown> {
  const event: Record<string, unknown> = {};
  for (const [part, value] of Object.entries(parts)) {
    const path = columns[part]?.[0]?.split('.');
    if (!path) continue;
    let at = event;
    for (const key of path.slice(0, -1)) at = (at[key] ??= {}) as Record<string, unknown>;
    at[path.at(-1)!] = value;
  }
  return event;
}
