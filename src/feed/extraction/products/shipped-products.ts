export type CatalogProduct = { vendor: string; product: string };

/** The products that reports describe as affected most often, with vendor and product as catalogs write them. */
export const shippedProducts: CatalogProduct[] = `
Microsoft: Exchange Server, Exchange, Windows, Windows Server, Office, Outlook, SharePoint, SharePoint Server, Internet Explorer, Edge, Active Directory, IIS, SQL Server, Defender, Azure DevOps, Word, Excel, OneNote, MSHTML, Print Spooler, Netlogon, Skype for Business, .NET Framework
Apache: Log4j, Log4j2, Struts, Tomcat, HTTP Server, Solr, ActiveMQ, Airflow, RocketMQ, OFBiz, Superset, Hadoop, Spark, CouchDB, Kafka, Shiro
Citrix: NetScaler ADC, NetScaler Gateway, NetScaler, ADC, Gateway, ShareFile, XenMobile, Application Delivery Controller
Fortinet: FortiOS, FortiProxy, FortiWeb, FortiManager, FortiMail, FortiClient, FortiNAC, FortiGate, FortiSIEM
Ivanti: Connect Secure, Policy Secure, Endpoint Manager Mobile, Endpoint Manager, Sentry, Avalanche, Neurons, Cloud Services Appliance
Pulse Secure: Pulse Connect Secure
Palo Alto Networks: PAN-OS, GlobalProtect, Expedition, Cortex XDR
Cisco: Catalyst SD-WAN Controller, Catalyst SD-WAN Manager, Catalyst SD-WAN, SD-WAN, Secure Firewall, Identity Services Engine, IOS XE, IOS XR, ASA, Adaptive Security Appliance, Firepower Threat Defense, Unified Communications Manager, AnyConnect, RV320, Smart Install, WebEx
F5: BIG-IP, BIG-IQ
SonicWall: SMA 100, SonicOS, SSL VPN, SSLVPN, Gen 7 Firewall, Email Security, SMA1000
VMware: ESXi, vSphere, vCenter Server, vCenter, Workspace ONE Access, Horizon, Aria Operations, Workstation, Spring Framework, Spring Cloud Gateway, Cloud Foundation
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
Juniper: Junos OS Evolved, Junos OS, Session Smart Router, ScreenOS
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
Trend Micro: Apex One, Apex Central, Deep Security
Commvault: Command Center
Gladinet: CentreStack
BeyondTrust: Remote Support, Privileged Remote Access
SimpleHelp: SimpleHelp
Cleo: Harmony, VLTrader, LexiCom
Wing FTP: Wing FTP Server
Langflow: Langflow
Meta: React Server Components
Vercel: Next.js
Sitecore: Sitecore
TP-Link: Archer
DrayTek: Vigor
Grafana Labs: Grafana
Elastic: Elasticsearch, Kibana
MongoDB: MongoDB
SAP: S/4HANA, Visual Composer
`
  .trim()
  .split('\n')
  .flatMap((line) => {
    const [vendor = '', products = ''] = line.split(/: (.*)/);
    return products.split(', ').map((product) => ({ vendor, product }));
  });
