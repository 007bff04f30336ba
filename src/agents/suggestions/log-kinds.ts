/** A dataset with its columns. Columns inside objects have dotted names. */
export type LogDataset = { name: string; columns: readonly { name: string }[] };

/**
 * The kinds of logs that a template can read. `parts` lists the columns that can contain each part of an event (ECS, Sysmon, Windows,
 * CloudTrail, and plain names). `source` says which events these are. A dataset is of a kind if it has the `main` part. Its entity is the first existing part of `entities`.
 */
export const logKinds = {
  process: {
    source: 'process starts with command lines, such as Sysmon event 1, Security event 4688 or those of an EDR',
    main: 'command',
    entities: ['host', 'user', 'command'],
    parts: {
      // prettier-ignore
      command: ['process.command_line', 'CommandLine', 'ProcessCommandLine', 'command_line', 'cmdline', 'winlog.event_data.CommandLine'],
      // prettier-ignore
      parent: ['process.parent.executable', 'ParentImage', 'ParentProcessName', 'process.parent.name', 'winlog.event_data.ParentImage'],
      host: ['host.name', 'Hostname', 'Computer', 'DeviceName', 'hostname', 'host', 'winlog.computer_name'],
      user: ['user.name', 'User', 'SubjectUserName', 'AccountName', 'username', 'user', 'winlog.event_data.User'],
    },
  },
  cloudtrail: {
    source: 'AWS CloudTrail, through an AWS log folder or a shipper',
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
    source: 'sign-ins of an identity provider, VPN or server',
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
    source: 'requests through a web proxy',
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
    source: 'access logs of a web server',
    main: 'path',
    entities: ['client', 'path'],
    parts: {
      path: ['url.path', 'url.original', 'request_uri', 'uri', 'path'],
      client: ['source.ip', 'client.ip', 'client_ip', 'remote_addr', 'src_ip'],
    },
  },
  dns: {
    source: 'DNS queries, such as Sysmon event 22 or the log of a resolver',
    main: 'query',
    entities: ['client', 'host', 'query'],
    parts: {
      query: ['dns.question.name', 'QueryName', 'query_name', 'qname'],
      client: ['source.ip', 'src_ip', 'client_ip'],
      host: ['host.name', 'Hostname', 'Computer'],
    },
  },
  network: {
    source: 'network connections, such as Sysmon event 3, flow logs or a firewall',
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
    source: 'changes of the Windows registry, such as Sysmon event 13',
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
    source: 'written files, such as Sysmon event 11 or those of an EDR',
    main: 'path',
    entities: ['host', 'user', 'path'],
    parts: {
      path: ['file.path', 'TargetFilename', 'file_path', 'FolderPath'],
      host: ['host.name', 'Hostname', 'Computer', 'DeviceName'],
      user: ['user.name', 'User', 'AccountName'],
    },
  },
  windows: {
    source: 'Windows events with their IDs',
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
  { source: string; main: string; entities: readonly string[]; parts: Record<string, readonly string[]> }
>;

export type LogKind = keyof typeof logKinds;

/** The parts of a log kind that a dataset has, with their columns, most likely first. `entity` is the part that identifies the entity. */
export type LogShape = { dataset: string; kind: LogKind; entity: string; columns: Record<string, readonly string[]> };

/** Returns the shape of a dataset as logs of a kind, or undefined if it has no main part or no entity. */
export function findLogShape(dataset: LogDataset, kind: LogKind): LogShape | undefined {
  const { main, entities, parts } = logKinds[kind];
  const names = new Set(dataset.columns.map(({ name }) => name));
  const columns = Object.fromEntries(
    Object.entries<readonly string[]>(parts)
      .map(([part, candidates]) => [part, candidates.filter((name) => names.has(name))] as const)
      .filter(([, existing]) => existing.length > 0),
  );
  const entity = entities.find((part) => part in columns);
  return main in columns && entity !== undefined ? { dataset: dataset.name, kind, entity, columns } : undefined;
}

/** Returns the SQL expression for a part of an event. */
export function partSql({ columns }: LogShape, part: string): string {
  const expressions = (columns[part] ?? []).map(columnSql);
  return expressions.length === 1 ? expressions[0]! : `coalesce(${expressions.join(', ')})`;
}

/** Returns the SQL expression for a column as text. It reads from `_event`, so that a column no event has is null instead of an error. */
export const columnSql = (column: string): string => `(_event->>'$.${column}')`;

export const quoteSqlText = (value: string): string => `'${value.replaceAll("'", "''")}'`;

/** Builds an event with the given parts, each in its most likely column. */
export function buildEvent(
  { columns }: Pick<LogShape, 'columns'>,
  parts: Record<string, unknown>,
): Record<string, unknown> {
  const event: Record<string, unknown> = {};
  for (const [part, value] of Object.entries(parts)) {
    const path = columns[part]?.[0]?.split('.');
    if (!path) continue;
    let parent = event;
    for (const key of path.slice(0, -1)) parent = (parent[key] ??= {}) as Record<string, unknown>;
    parent[path.at(-1)!] = value;
  }
  return event;
}
