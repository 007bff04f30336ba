import type { AffectedProduct } from '../../model/item.schema.ts';
import type { Span } from '../text/stored-text.ts';

export type CatalogProduct = { vendor: string; product: string };
export type ExtractedProduct = AffectedProduct & { sentence: Span };

/** The products that reports describe as affected most often, with vendor and product as catalogs write them. */
const shippedProducts: CatalogProduct[] = `
Microsoft: Exchange Server, Windows, Windows Server, Office, Outlook, SharePoint, SharePoint Server, Internet Explorer, Edge, Active Directory, IIS, SQL Server, Defender, Azure DevOps, Word, Excel, OneNote, MSHTML, Print Spooler, Netlogon, Skype for Business, .NET Framework
Apache: Log4j, Log4j2, Struts, Tomcat, HTTP Server, Solr, ActiveMQ, Airflow, RocketMQ, OFBiz, Superset, Hadoop, Spark, CouchDB, Kafka, Shiro
Citrix: NetScaler ADC, NetScaler Gateway, ADC, Gateway, ShareFile, XenMobile, Application Delivery Controller
Fortinet: FortiOS, FortiProxy, FortiWeb, FortiManager, FortiMail, FortiClient, FortiNAC, FortiGate, FortiSIEM
Ivanti: Connect Secure, Policy Secure, Endpoint Manager Mobile, Endpoint Manager, Sentry, Avalanche, Neurons, Cloud Services Appliance
Pulse Secure: Pulse Connect Secure
Palo Alto Networks: PAN-OS, GlobalProtect, Expedition, Cortex XDR
Cisco: IOS XE, IOS XR, ASA, Adaptive Security Appliance, Firepower Threat Defense, Unified Communications Manager, AnyConnect, RV320, Smart Install, WebEx
F5: BIG-IP, BIG-IQ
SonicWall: SMA 100, SonicOS, Email Security, SMA1000
VMware: ESXi, vCenter Server, vCenter, Workspace ONE Access, Horizon, Aria Operations, Workstation, Spring Framework, Spring Cloud Gateway, Cloud Foundation
Progress: MOVEit Transfer, MOVEit Cloud, WS_FTP Server, Telerik UI, WhatsUp Gold
Fortra: GoAnywhere MFT
Accellion: File Transfer Appliance, FTA
SolarWinds: Orion, Serv-U, Web Help Desk
Kaseya: VSA
ConnectWise: ScreenConnect, Control
Atlassian: Confluence, Confluence Server, Confluence Data Center, Jira, Bitbucket Server, Crowd
Zoho: ManageEngine ADSelfService Plus, ManageEngine ServiceDesk Plus, ManageEngine Desktop Central, ManageEngine
Oracle: WebLogic Server, WebLogic, E-Business Suite, Java SE, Access Manager
Adobe: ColdFusion, Acrobat, Reader, Flash Player, Commerce, Magento, Experience Manager
Google: Chrome, Android, Pixel
Apple: iOS, iPadOS, macOS, Safari, WebKit, tvOS, watchOS
Linux: Linux Kernel, Polkit, Sudo
Samba: Samba
OpenSSL: OpenSSL
OpenSSH: OpenSSH
Zimbra: Collaboration Suite, Zimbra Collaboration
Roundcube: Roundcube Webmail, Roundcube
WordPress: WordPress, Elementor, WooCommerce
Drupal: Drupal
Joomla: Joomla
PHP: PHP
GitLab: GitLab
JetBrains: TeamCity
Jenkins: Jenkins
Veeam: Backup & Replication
Barracuda: Email Security Gateway
Sophos: XG Firewall, Sophos Firewall
Zyxel: ATP, USG FLEX, VPN Firewall
D-Link: DIR-859, DNS-320
QNAP: QTS, QuTS hero, Photo Station
Synology: DiskStation Manager
MikroTik: RouterOS
Juniper: Junos OS, ScreenOS
Check Point: Quantum Security Gateway
CrushFTP: CrushFTP
PaperCut: PaperCut MF, PaperCut NG
3CX: 3CX Desktop App, 3CXDesktopApp
RARLAB: WinRAR
7-Zip: 7-Zip
Mozilla: Firefox, Thunderbird
Docker: Docker
Kubernetes: Kubernetes
Redis: Redis
Exim: Exim
SAP: NetWeaver, SAP NetWeaver
Siemens: SIMATIC, SINEC, STEP 7
Rockwell Automation: ControlLogix, Studio 5000
Schneider Electric: Modicon, EcoStruxure
Unitronics: Vision Series, Unistream
Gigabyte: App Center
Telerik: Telerik UI
Okta: Okta
`
  .trim()
  .split('\n')
  .flatMap((line) => {
    const [vendor = '', products = ''] = line.split(/: (.*)/);
    return products.split(', ').map((product) => ({ vendor, product }));
  });

// A product is affected only if its sentence mentions a weakness or versions.
const affects =
  /\b(?:CVE-\d{4}-\d{4,7}|vulnerab\w*|exploit\w*|zero[- ]days?|0-days?|flaws?|unpatched|patch(?:ed|es)?|affect(?:s|ed|ing)?|RCE|remote code execution|security (?:update|advisory)|(?:versions?|builds?) (?:prior|before|through|up to|\d))\b/i;
// Product names that need the vendor beside them.
const common =
  /^(?:Windows|Office|Edge|Word|Excel|Outlook|Gateway|ADC|ASA|Control|Reader|Horizon|Orion|Docker|PHP|Chrome|Android|Sentry|Crowd|Spark|Defender|Commerce|Pixel|ATP|FTA|VSA|Okta|Neurons|Avalanche|Expedition|Workstation|Email Security|Linux Kernel|iOS|macOS|Safari|Firefox|Java SE|Polkit|Sudo|Confluence|Jira|Jenkins|Redis|Exim)$/;
const version =
  /^[\s,(]{0,3}(?:(?:server|software|versions?|v\.?|releases?|firmware|builds?)\s{1,2}){0,2}((?:(?:before|prior to|earlier than|through|up to(?: and including)?|<=?|≤)\s*)?v?\d{1,5}(?:\.\d{1,6}){0,4}(?:[a-z]\d{0,3})?(?:\s*(?:and|or)\s+(?:earlier|below|prior|later|older))?(?:\s*(?:-|–|to|through)\s*\d{1,5}(?:\.\d{1,6}){1,4})?)/i;
const versionsMax = 20;

/** Extracts the products in sentences about weaknesses, with versions as printed. `more` adds products to the shipped list. */
export function extractProducts(text: string, sentences: Span[], more: CatalogProduct[] = []): ExtractedProduct[] {
  const found = new Map<string, ExtractedProduct>();
  for (const sentence of sentences) {
    const printed = text.slice(sentence.start, sentence.end);
    if (!affects.test(printed)) continue;
    for (const { vendor, product } of [...shippedProducts, ...more]) {
      const at = findProduct(printed, vendor, product);
      if (at === undefined) continue;
      const versionText = version.exec(printed.slice(at + product.length))?.[1]?.trim();
      const key = `${vendor}\t${product}`;
      const entry = found.get(key) ?? {
        vendor,
        product,
        versions: [],
        confidence: printed.includes(vendor) ? 0.8 : 0.6,
        sentence,
      };
      const isYear =
        versionText !== undefined &&
        /^(?:19|20)\d\d$/.test(versionText) &&
        !/server|office|exchange|sharepoint/i.test(product);
      if (
        versionText &&
        !isYear &&
        /\d/.test(versionText) &&
        !entry.versions.includes(versionText) &&
        entry.versions.length < versionsMax
      )
        entry.versions.push(versionText);
      found.set(key, entry);
    }
  }
  return dropPartialNames([...found.values()]);
}

function findProduct(sentence: string, vendor: string, product: string): number | undefined {
  let at = sentence.indexOf(product);
  while (at >= 0) {
    const isWhole = !/[\w-]/.test(sentence[at - 1] ?? ' ') && !/[\w]/.test(sentence[at + product.length] ?? ' ');
    const hasVendor =
      product.includes(vendor) || sentence.slice(Math.max(0, at - vendor.length - 12), at).includes(vendor);
    if (isWhole && (hasVendor || !common.test(product))) return at;
    at = sentence.indexOf(product, at + product.length);
  }
  return undefined;
}

/** Drops `Windows` if the same sentence contains `Windows Server`. */
const dropPartialNames = (products: ExtractedProduct[]): ExtractedProduct[] =>
  products.filter(
    (one) =>
      !products.some(
        (other) =>
          other !== one &&
          other.vendor === one.vendor &&
          other.product.includes(one.product) &&
          other.product !== one.product &&
          other.sentence.start === one.sentence.start &&
          one.versions.length === 0,
      ),
  );
