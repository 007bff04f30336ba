const names = `
@path _path accountname action activity_id activitydisplayname actor actor_alternateid_s additionaleventdata agent
answer answers api apigroup appid auditd audittype authenticationcontext authenticationprotocol authenticationrequirement
aws awsregion azure blocked c-ip c-referer c-uri c-uri-extension c-uri-query c-useragent
c_ip caller calleripaddress capabilities category categoryvalue channel cip class_uid client
client_ip clientapp clientappused clientip cloud commandline computer computername conditionalaccessstatus confidence
cookie creator_process_name cs-cookie cs-host cs-method cs-referer cs-uri cs-uri-extension cs-uri-query cs-uri-stem
cs-user-agent cs-username cs_host cs_method cs_referer cs_uri cs_uri_query cs_uri_stem cs_user_agent cs_username
cshost csmethod csreferer csuriquery csuristem csuseragent csusername currentdirectory data data_stream
debugcontext debugcontext_debugdata_requesturi_s dest dest_host dest_ip dest_port destaddress destination destinationhostname destinationip
destinationport destport details device deviceaction devicedetail devicename displaymessage displaymessage_s disposition
dns driver dst dst_endpoint dst_ip dst_port dstip dstport errorcode errormessage
event event_type event_type_id eventcode eventdata eventid eventname events eventservice eventsource
eventtype eventtype_s eventtypename file file_path filename filepath folderpath gcp github
google_workspace grantedaccess host hostname hostpath http http_host http_method http_referer http_referrer
http_request http_user_agent id identity image imageloaded indicator initiated initiatedby initiatingprocessaccountname
initiatingprocesscommandline initiatingprocessfolderpath initiatingprocessparentfilename initiator integritylevel ipaddress ipaddresses key keywords kubernetes
legacyeventtype legacyeventtype_s level localip localport log loggedbyservice logname logonid logontype
metadata method module name namespace network new_process_name new_value newprocessname o365
objectid objectref officeobjectid okta opcode operation operationname operationnamevalue originalfilename outcome
outcome_reason_s outcome_result_s parameters parentcommandline parentimage parentprocessname path payload pipename powershell
principal process process_command_line processcommandline processid processname processversioninfooriginalfilename properties protopayload provider
provider_name qname qtype_name query query_name query_string query_type queryname queryresults querytype
question r-dns r-ip rdata reason recipientaccountid record_type referer referrer reg_key
reg_value registry relativetargetname remote_addr remote_user remoteip remoteport remoteurl repo request
request_method request_uri requestclientapplication requestmethod requestobject requestparameters requesturi requesturl resource resourceid
resourceprovidervalue responseelements responsestatus result resultdescription resultstatus resulttype riskeventtype risklevelduringsignin riskstate
sc-bytes sc-status sc_status scriptblocktext scstatus securitycontext securitycontext_isproxy_b service sessionmfaauthenticated setting_name
signature source sourceip sourceipaddress sourcename sourceport src src_endpoint src_ip src_port
srcip srcport status system target targetfilename targetimage targetobject targetresources task
threat_name threatname ticketencryptiontype type unmapped uri uri_extension uri_path uri_query url
user user_agent useragent userid useridentity useridentityarn useridentitytype useridentityusername username userprincipalname
verb virusname winlog workload zeek
`;

/**
 * The fields that shipped detections need or that Sigma rules read in some form of logs: the first key of each path, in lower case. Generated
 * from `library/` and `sigma/mappings/` by `npm run generate`.
 */
export const shippedFields: ReadonlySet<string> = new Set(names.trim().split(/\s/));
