import { getPublicSuffix, parse } from 'tldts';
import { wellKnown } from './benign-lists.ts';

/** Suffixes below which every name belongs to a customer, in addition to the private part of the Public Suffix List. */
const moreSuffixes: ReadonlySet<string> = new Set(
  `cloudapp.azure.com cloudapp.net sharepoint.com onmicrosoft.com trafficmanager.net azurecontainer.io azurecr.io vault.azure.net
  database.windows.net powerappsportals.com dynamics.com devtunnels.ms github.dev googleusercontent.com appspot.com
  cloudfunctions.net my.salesforce.com my.site.com force.com zendesk.com atlassian.net wordpress.com substack.com
  hubspotpagebuilder.com mystrikingly.com wixsite.com weebly.com 000webhostapp.com glitch.me repl.co replit.app
  webhook.site requestbin.net pipedream.net oastify.com interact.sh ngrok.com ngrok.io ngrok.app ngrok.dev ngrok-free.app ngrok-free.dev loca.lt localtunnel.me serveo.net localhost.run lhr.life
  trycloudflare.com pinggy.io pinggy.link playit.gg portmap.io portmap.host bore.pub localxpose.io loclx.io zrok.io telebit.io packetriot.net
 
  app.link page.link awsapps.com amazonaws.com elasticbeanstalk.com digitaloceanspaces.com ondigitalocean.app backblazeb2.com wasabisys.com aliyuncs.com
  myqcloud.com linodeobjects.com linodeusercontent.com vultrusercontent.com contaboserver.net`
    .trim()
    .split(/\s+/),
);

const addressName = /^[a-z0-9]+-\d{1,3}-\d{1,3}-\d{1,3}-\d{1,3}\./;

/**
 * Returns the suffix at or above a host that the customers of a hosting service share, such as `s3.amazonaws.com`. A host below it belongs to
 * a customer, not to the service. Well-known hosts such as `googleapis.com` do not count as shared, although the Public Suffix List has them.
 */
export function findSharedSuffix(host: string): string | undefined {
  const { publicSuffix, isPrivate } = parse(host, { allowPrivateDomains: true, validateHostname: false });
  // A wildcard of the list makes the name of a machine a suffix: `ec2-192-0-2-1.compute-1.amazonaws.com`.
  const listed = isPrivate && publicSuffix && addressName.test(publicSuffix) ? parentOf(publicSuffix) : publicSuffix;
  if (isPrivate && listed && !wellKnown.has(listed)) return listed;
  for (let name: string | undefined = host; name; name = parentOf(name)) if (moreSuffixes.has(name)) return name;
  return undefined;
}

const parentOf = (host: string): string | undefined => /^[^.]+\.(.+\..+)$/.exec(host)?.[1];

/** Returns the domain that one owner has registered: `example.co.uk` for `www.example.co.uk`, and the customer's name of shared hosting. */
export function findOwnDomain(host: string): string | undefined {
  const suffix = findSharedSuffix(host) ?? getPublicSuffix(host, { validateHostname: false });
  if (!suffix || !host.endsWith(`.${suffix}`)) return undefined;
  const label = host
    .slice(0, -suffix.length - 1)
    .split('.')
    .at(-1);
  return `${label}.${suffix}`;
}

/** Returns whether the names below a host belong to its owner: the host is not a suffix such as `co.uk` or `s3.amazonaws.com`. */
export const ownsSubdomains = (host: string): boolean => findOwnDomain(host) !== undefined;

/** Returns the names above a host, from its parent to its top-level domain. */
export function listParents(host: string): string[] {
  const labels = host.split('.');
  return labels.slice(1).map((_, index) => labels.slice(index + 1).join('.'));
}
