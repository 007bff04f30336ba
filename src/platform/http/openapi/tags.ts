const descriptions = {
  detections: 'Detections, their prompts, revisions, exceptions, tests, and where they come from',
  agents: 'Built-in agents, and the runs of all agents',
  runs: 'Runs of detections, the windows that they examine, and gaps',
  models: 'Language models and what they may cost',
  tools: 'Tools that agents may use, and the MCP servers that provide more',
  hits: 'What detections found, triage, and what is known about entities',
  connections: 'SIEMs and databases that detections query',
  outputs: 'Destinations of events, and the deliveries to them',
  events: 'Events of the organization, as a list or a stream',
  feed: 'Threat-intelligence items, indicators and relevance',
  sources: 'Sources of the feed, and items that people add',
  exports: 'The feed in the formats of other tools',
  taxii: 'The feed over TAXII 2.1',
  logs: 'Log events: ingestion, columns and search',
  keys: 'API keys',
  sessions: 'Sign-in to the console',
  audit: 'Who changed what',
  admin: 'Organizations of the installation, for its operators',
  service: 'Health of the service, erasure and retention',
};

export const tags = Object.entries(descriptions).map(([name, description]) => ({ name, description }));
