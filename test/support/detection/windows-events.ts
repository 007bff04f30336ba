/** Returns a Sysmon process creation (event 1) as a Windows log shipper sends it. */
export function processStart(host: string, commandLine: string): Record<string, unknown> {
  return {
    '@timestamp': '2030-01-07T10:00:00.000Z',
    EventID: 1,
    Channel: 'Microsoft-Windows-Sysmon/Operational',
    Hostname: host,
    User: 'HALDEN\\someone',
    Image: `C:\\Windows\\System32\\${commandLine.split(' ')[0]}`,
    CommandLine: commandLine,
    ParentImage: 'C:\\Windows\\System32\\cmd.exe',
  };
}
